// Describes files and operations of a recorded run by patterns. In another run
// of the program, a pattern matches the same file or operation, although
// temporary files may have other names there.
#ifndef GAUNTLET_HARNESS_TRAINER_FILE_PATTERNS_H_
#define GAUNTLET_HARNESS_TRAINER_FILE_PATTERNS_H_

#include <cstdint>
#include <set>
#include <string>

#include "chaos/trace/injection.h"
#include "chaos/trace/log/operation_log.h"

namespace gauntlet {

class FilePatterns {
 public:
  // The log must outlive this object.
  explicit FilePatterns(const OperationLog& log);

  const OperationLog& log() const { return log_; }
  // Returns a pattern of fnmatch(3) for the path. Each name in the path is
  // replaced by its NamePattern (name_pattern.h); the name of a temporary file
  // is replaced by its TemporaryNamePattern. A file counts as temporary if its
  // name appears only once in the recording and is later renamed or removed.
  std::string Of(const FileName& name) const;
  // Describes operation `number` (from 1) of the log, for example as the third
  // rename of files with the pattern of its file.
  OperationPattern OfOperation(uint64_t number) const;

 private:
  const OperationLog& log_;
  std::set<FileName> temporary_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_TRAINER_FILE_PATTERNS_H_
