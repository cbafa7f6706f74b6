// Removal of old runs: gauntlet run --keep-runs.
#ifndef GAUNTLET_HARNESS_CLI_OLD_RUNS_H_
#define GAUNTLET_HARNESS_CLI_OLD_RUNS_H_

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "engine/real/descriptor.h"

namespace gauntlet {

// Returns true iff MakeRunDirectory makes such names: "20261121T104300-77".
bool IsRunId(std::string_view name);

// Marks the folder of a run as being written, by a lock on the folder that ends
// with this object or this process. Without locks on that file system, nothing
// is marked.
class RunLock {
 public:
  explicit RunLock(const std::filesystem::path& run);

 private:
  Descriptor folder_;
};

struct RunsRemoved {
  size_t removed = 0;
  size_t kept = 0;      // finished ones that are left
  std::string problem;  // the first that was met; empty: none
};

// Removes the oldest finished runs beyond the newest `keep`, and as many of the
// explorations that found nothing. A finished run is a folder with the name of
// a run that has a result.json; such an exploration has a report.html and no
// file beside it. `latest`'s target and runs with a lock stay. Everything else
// in `runs` is left alone: findings are never removed.
RunsRemoved RemoveOldRuns(const std::filesystem::path& runs, size_t keep);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_OLD_RUNS_H_
