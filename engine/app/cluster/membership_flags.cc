#include "engine/app/cluster/membership_flags.h"

#include <algorithm>
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
  NamedChoices<RestartPolicy> policies;
  for (const RestartPolicy policy :
       {RestartPolicy::kNone, RestartPolicy::kWholeJob,
        RestartPolicy::kRejoin}) {
    policies.emplace_back(RestartPolicyName(policy), policy);
  }
  flags.Value({"--restart", "NAME",
               "After a lost worker: none (the run ends), whole-job (all "
               "workers restart from a checkpoint) or rejoin (the worker "
               "restarts and takes the state of the others) (whole-job)."},
              ReadChoice<RestartPolicy>(launcher.restart, policies));
  flags.Value({"--start-timeout", "TIME",
               "Limit for the chief to start up, which includes reading the "
               "data. After it, the chief counts as hung (10m)."},
              ReadLimit(launcher.start_timeout));
}

FlagReader ReadWorkersByLife(std::vector<int>& target) {
  return [&target](const std::string& text) -> Status {
    std::vector<int> numbers;
    std::string_view rest = text;
    while (true) {
      const size_t comma = std::min(rest.find(','), rest.size());
      ASSIGN_OR_RETURN(
          const int number,
          ParseWhole<int>(std::string(rest.substr(0, comma)), 1, kMaxReplicas));
      numbers.push_back(number);
      if (comma == rest.size()) break;
      rest.remove_prefix(comma + 1);
    }
    target = std::move(numbers);
    return OkStatus();
  };
}

Status CheckMembership(const LauncherOptions& launcher) {
  if (launcher.min_workers > launcher.workers) {
    return InvalidArgument(
        fmt::format("--min-workers: expected at most --workers ({}), found {}",
                    launcher.workers, launcher.min_workers));
  }
  for (const int workers : launcher.workers_by_life) {
    if (workers <= launcher.workers && workers >= launcher.min_workers)
      continue;
    return InvalidArgument(fmt::format(
        "--workers-by-life: expected numbers from {} to --workers ({}), found "
        "{}",
        std::max(launcher.min_workers, 1), launcher.workers, workers));
  }
  return OkStatus();
}

}  // namespace gauntlet
