// A write that is stopped before its call, made to write less.
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
  // that it writes at most `length` bytes. nullopt: nothing can be written of
  // it, as by O_DIRECT less than a block, or it is no write with a length.
  static std::optional<ShortenedWrite> Apply(pid_t thread, const FileCall& call,
                                             uint64_t length);
  // After a call that failed: registers and memory as the program left them.
  void Undo(pid_t thread) const;

 private:
  user_regs_struct registers_ = {};
  uint64_t vector_address_ = 0;       // 0: no memory was changed
  std::vector<MemoryRange> vectors_;  // as they were
};

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_TRACE_CALLS_SHORTENED_WRITE_H_
