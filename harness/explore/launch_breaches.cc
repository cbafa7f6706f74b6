#include "harness/explore/launch_breaches.h"

#include <algorithm>
#include <climits>
#include <cstddef>
#include <string>

#include <fmt/format.h>

namespace gauntlet {
namespace {

Finding Breach(std::string name, std::string message) {
  return {.invariant = "trajectory",
          .name = std::move(name),
          .message = std::move(message)};
}

// Returns true iff a worker of that start of the launcher began at the step or
// past it.
bool BeganPast(const Record& record, size_t start, uint64_t step) {
  const std::vector<LauncherRun>& runs = record.launchers;
  const int first = runs[start].first_life;
  const int end =
      start + 1 < runs.size() ? runs[start + 1].first_life : INT_MAX;
  return std::ranges::any_of(record.lives, [&](const LifeEvents& life) {
    return life.life >= first && life.life < end &&
           std::ranges::any_of(life.events, [&](const RecordEvent& event) {
             return event.kind == RecordKind::kResumed && event.step >= step;
           });
  });
}

bool HasNotices(const Record& record) {
  return std::ranges::any_of(record.faults, [](const RecordFault& fault) {
    return fault.kind == "preempt";
  });
}

// The first step behind which a run that is to stop at `step` may do so.
uint64_t FirstStop(const RunSetup& setup, uint64_t step) {
  const uint64_t length = std::max<uint64_t>(setup.steps_per_execution, 1);
  return (step + length - 1) / length * length;
}

}  // namespace

std::vector<Finding> LaunchBreaches(const Record& record) {
  std::vector<Finding> breaches;
  for (size_t i = 0; i < record.launchers.size(); ++i) {
    const LauncherRun& run = record.launchers[i];
    if (run.planned >= record.setup.launches.size() || !run.result) continue;
    const PlannedLaunch& planned = record.setup.launches[run.planned];
    const uint64_t stop = planned.stop_at_step;
    if (planned.other_job) {
      breaches.push_back(
          Breach("changed-job",
                 fmt::format("launch {} has another job and was to be refused, "
                             "found {} at step {}",
                             i + 1, run.result->status, run.result->steps)));
    } else if (stop > 0 && run.result->steps > FirstStop(record.setup, stop) &&
               !BeganPast(record, i, stop)) {
      breaches.push_back(Breach(
          "stop-at-step",
          fmt::format("launch {} was to stop after step {}, "
                      "found {} at step {}",
                      i + 1, stop, run.result->status, run.result->steps)));
    } else if (run.result->status == "stopped" && !HasNotices(record) &&
               (stop == 0 || run.result->steps < stop)) {
      breaches.push_back(
          Breach("stop-without-notice",
                 fmt::format("launch {} stopped after step {} without a notice",
                             i + 1, run.result->steps)));
    }
  }
  return breaches;
}

}  // namespace gauntlet
