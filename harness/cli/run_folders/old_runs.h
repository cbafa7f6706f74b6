// Removal of old runs, for `gauntlet run --keep-runs`.
#ifndef GAUNTLET_HARNESS_CLI_RUN_FOLDERS_OLD_RUNS_H_
#define GAUNTLET_HARNESS_CLI_RUN_FOLDERS_OLD_RUNS_H_

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "engine/real/posix/descriptor.h"

namespace gauntlet {

// Returns true iff the name has the form that MakeRunDirectory gives:
// "20261121T104300-77".
bool IsRunId(std::string_view name);

// Holds a lock on the folder of a run while the run writes to it. The lock ends
// with this object or the process. If the file system has no locks, the folder
// is not protected.
class RunLock {
 public:
  explicit RunLock(const std::filesystem::path& run);

 private:
  Descriptor folder_;
};

// Returns true iff a run holds its RunLock on the folder.
bool IsBeingWritten(const std::filesystem::path& run);

// Orders the names of runs by time. Of runs started in the same second, ID.2
// comes before ID.10.
bool IsOlderRun(const std::string& a, const std::string& b);

struct RunsRemoved {
  size_t removed = 0;
  size_t kept = 0;      // runs and explorations that remain
  std::string problem;  // first error; empty: none
};

// Removes finished runs except the newest `keep`, then explorations without a
// finding except the newest `keep`. A finished run is a folder that is named
// like a run and has a result.json. An exploration without a finding has a
// report.html and no other file. Never removes a locked run, a finding or
// anything else in `runs`. The target of `latest` counts as the newest run; it
// cannot change during the removal (RunsFolderLock). REQUIRES: keep > 0.
RunsRemoved RemoveOldRuns(const std::filesystem::path& runs, size_t keep);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_RUN_FOLDERS_OLD_RUNS_H_
