#include "engine/app/cluster/membership_flags.h"

#include <optional>
#include <string>
#include <string_view>

#include "engine/job/job.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

FlagReader ReadLimit(Duration& target) {
  return [&target](const std::string& text) -> Status {
    std::optional<Duration> limit;
    RETURN_IF_ERROR(ReadTime(limit)(text));
    target = *limit;
    return OkStatus();
  };
}

}  // namespace

void AddMembershipFlags(Flags& flags, LauncherOptions& launcher) {
  flags.Value({"--min-workers", "N",
               "Smallest number of workers to scale down to if others keep "
               "failing (--workers)."},
              ReadWhole(launcher.min_workers, 1, kMaxReplicas));
  flags.Value({"--restart", "NAME",
               "After a lost worker: none (the run ends), whole-job (all "
               "workers restart from a checkpoint) or rejoin (the worker "
               "restarts and takes the state of the others) (whole-job)."},
              ReadChoice(launcher.restart, kRestartPolicyNames));
  flags.Value({"--start-timeout", "TIME",
               "Limit for the chief to start up, which includes reading the "
               "data. After it, the chief counts as hung (10m)."},
              ReadLimit(launcher.start_timeout));
}

Status CheckMembership(const LauncherOptions& launcher) {
  if (launcher.min_workers > launcher.workers) {
    return InvalidArgument(
        fmt::format("--min-workers: expected at most --workers ({}), found {}",
                    launcher.workers, launcher.min_workers));
  }
  return OkStatus();
}

}  // namespace gauntlet
