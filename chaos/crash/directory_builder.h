// Builds crash states as real directories.
#ifndef GAUNTLET_CHAOS_CRASH_DIRECTORY_BUILDER_H_
#define GAUNTLET_CHAOS_CRASH_DIRECTORY_BUILDER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "chaos/crash/content_store.h"
#include "chaos/crash/crash_state.h"
#include "chaos/crash/log_walk.h"

namespace gauntlet {

struct BuildOptions {
  // An existing folder in which contents are stored for reuse, preferably on
  // the file system of the targets. Builders of one log may share it.
  std::string cache;
  uint64_t cache_bytes = uint64_t{4} << 30U;  // limit for one builder
  // Returns true for a file that no process will open for writing. States share
  // such a file by hard links, which is fastest. Null: there is no such file.
  std::function<bool(const FileName& name)> is_read_only;
};

// Used by one thread at a time.
class DirectoryBuilder {
 public:
  // The log must outlive this.
  DirectoryBuilder(const OperationLog& log, BuildOptions options);

  // Creates the state's files and directories in the targets, with their modes
  // and times, and its symbolic links. `targets` names an existing, empty
  // directory for each watched directory. The targets' own modes and times do
  // not change.
  //
  // If writing fails, the targets are empty again. kInvalidArgument: a target
  // is missing or not empty, or the state is from another log; kDataLoss: the
  // log is damaged, or a name leads out of its directory; kResourceExhausted:
  // the disk is full.
  Status Build(const CrashState& state,
               const std::vector<std::string>& targets);

 private:
  Result<const LogWalk*> WalkTo(uint64_t position);

  const OperationLog& log_;
  const BuildOptions options_;
  ContentStore store_;
  // Saved walks to continue from, by position.
  std::map<uint64_t, LogWalk> walks_;
  std::optional<LogWalk> walk_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_CRASH_DIRECTORY_BUILDER_H_
