// Repeats the operations of a log in empty directories.
#ifndef GAUNTLET_TESTS_CHAOS_TRACE_REPLAY_H_
#define GAUNTLET_TESTS_CHAOS_TRACE_REPLAY_H_

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>

#include "chaos/trace/log/operation_log.h"
#include "engine/real/posix/descriptor.h"

namespace gauntlet {

class Replay {
 public:
  // Creates `root`/i as the copy of directory i of the log.
  Replay(const OperationLog& log, std::string root);

  // Repeats the next `count` operations. The error names the operation that
  // fails.
  Status Do(size_t count);
  Status DoAll() { return Do(log_.operations().size() - done_); }

  std::string Directory(size_t index) const;

 private:
  Status DoOne(const FileOperation& operation);
  std::string Path(const FileName& name) const;
  Status Write(int file, const FileOperation& operation) const;
  bool Enter(const FileOperation& operation);

  const OperationLog& log_;
  const std::string root_;
  size_t done_ = 0;
  std::map<uint64_t, Descriptor> files_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_CHAOS_TRACE_REPLAY_H_
