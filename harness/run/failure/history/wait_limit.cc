#include "harness/run/failure/history/wait_limit.h"

#include "engine/text/units.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr std::string_view kLostAfter = "cluster.heartbeat.lost_after";

// Returns the limit of a step or of a save, whichever has the value `limit_ns`;
// nullopt if neither has it.
std::optional<WaitLimit> LimitOfExchange(const RunSetup& setup,
                                         int64_t limit_ns) {
  if (limit_ns <= 0) return std::nullopt;
  if (limit_ns == setup.step_timeout_ns) {
    return WaitLimit{.key = "cluster.step_timeout", .limit_ns = limit_ns};
  }
  if (limit_ns == setup.save_timeout_ns) {
    return WaitLimit{.key = "cluster.save_timeout", .limit_ns = limit_ns};
  }
  return std::nullopt;
}

// Returns the limit of a launcher that waited for the next report of rank 0.
// The launcher waits longer, by lost_after, than rank 0 may take.
std::optional<WaitLimit> LimitOfLauncher(const RunSetup& setup,
                                         int64_t limit_ns) {
  if (limit_ns == setup.start_timeout_ns) {
    return WaitLimit{.key = "cluster.start_timeout", .limit_ns = limit_ns};
  }
  std::optional<WaitLimit> wait =
      LimitOfExchange(setup, limit_ns - setup.silence_limit_ns);
  if (wait) wait->added_ns = setup.silence_limit_ns;
  return wait;
}

std::optional<WaitLimit> LimitOfWorker(const RunSetup& setup,
                                       const RecordEvent& lost) {
  if (lost.reason == RecordReason::kSilent) {
    if (lost.limit_ns != setup.silence_limit_ns) return std::nullopt;
    return WaitLimit{.key = kLostAfter, .limit_ns = lost.limit_ns};
  }
  if (lost.reason != RecordReason::kDeadline) return std::nullopt;
  return LimitOfExchange(setup, lost.limit_ns);
}

std::string WaitTimeText(int64_t limit_ns) {
  return DurationToText(Duration(limit_ns));
}

}  // namespace

bool WaitLimit::is_of_launcher() const { return worker == kLauncherWorker; }

std::optional<WaitLimit> LimitOfLoss(const RunSetup& setup, int emitter,
                                     const RecordEvent& lost) {
  if (lost.limit_ns <= 0) return std::nullopt;
  std::optional<WaitLimit> wait = emitter == kLauncherWorker
                                      ? LimitOfLauncher(setup, lost.limit_ns)
                                      : LimitOfWorker(setup, lost);
  if (wait) wait->worker = emitter;
  return wait;
}

std::string LimitValueText(const WaitLimit& wait) {
  if (wait.added_ns == 0) {
    return fmt::format("{} is {}", wait.key, WaitTimeText(wait.limit_ns));
  }
  return fmt::format(
      "{}, {}, and {}, {}, add up to {}", wait.key, WaitTimeText(wait.limit_ns),
      kLostAfter, WaitTimeText(wait.added_ns), WaitTimeText(wait.total_ns()));
}

std::string LimitNameText(const WaitLimit& wait) {
  const std::string name =
      fmt::format("{} ({})", wait.key, WaitTimeText(wait.limit_ns));
  if (wait.added_ns == 0) return name;
  return fmt::format("the sum of {} and {} ({})", name, kLostAfter,
                     WaitTimeText(wait.added_ns));
}

}  // namespace gauntlet
