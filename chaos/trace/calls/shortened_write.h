// Shortens a write whose thread is stopped before the call.
#ifndef GAUNTLET_CHAOS_TRACE_CALLS_SHORTENED_WRITE_H_
#define GAUNTLET_CHAOS_TRACE_CALLS_SHORTENED_WRITE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "chaos/trace/calls/file_calls.h"
#include <sys/types.h>
#include <sys/user.h>

namespace gauntlet {

class ShortenedWrite {
 public:
  // Changes the call's registers, and the vectors in the thread's memory, so
  // that it writes at most `length` bytes. Returns nullopt if that is
  // impossible: O_DIRECT cannot write less than a block, or the call has no
  // length.
  static std::optional<ShortenedWrite> Apply(pid_t thread, const FileCall& call,
                                             uint64_t length);
  // Called after a failed call: restores registers and memory.
  void Undo(pid_t thread) const;

 private:
  user_regs_struct registers_ = {};
  uint64_t vector_address_ = 0;       // 0: no memory was changed
  std::vector<MemoryRange> vectors_;  // original contents
};

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_TRACE_CALLS_SHORTENED_WRITE_H_
