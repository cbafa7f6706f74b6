#include "harness/run/failure/limits/time_of_giving_up.h"

#include <algorithm>
#include <cstddef>

namespace gauntlet {
namespace {

// An attempt after which the launcher restarted the job.
struct RestartedAttempt {
  int64_t duration_ns = 0;  // without the pause before the attempt
  int64_t restart_ns = 0;   // time of the restart, before its pause
  int64_t pause_ns = 0;     // between the restart and the next attempt
};

// Returns the pause after the restart at `restart_ns`.
int64_t PauseAfter(const LauncherRun& run, int64_t restart_ns) {
  const auto found =
      std::ranges::find_if(run.events, [restart_ns](const RecordEvent& event) {
        return event.kind == RecordKind::kRestarting &&
               event.t_ns == restart_ns;
      });
  return found == run.events.end() ? 0 : found->limit_ns;
}

std::vector<RestartedAttempt> RestartedAttempts(
    const Record& record, const std::vector<Interruption>& all) {
  std::vector<RestartedAttempt> attempts;
  size_t launch = 0;  // number of the launcher's start, from 1
  for (const LauncherRun& run : record.launchers) {
    if (run.events.empty()) continue;
    ++launch;
    int64_t begin_ns = run.events.front().t_ns;  // start of the attempt
    for (const Interruption& one : all) {
      if (one.launch != launch || one.reaction != Reaction::kRestartsJob) {
        continue;
      }
      const int64_t pause_ns = PauseAfter(run, one.reaction_ns);
      attempts.push_back({.duration_ns = one.reaction_ns - begin_ns,
                          .restart_ns = one.reaction_ns,
                          .pause_ns = pause_ns});
      begin_ns = one.reaction_ns + pause_ns;
    }
  }
  return attempts;
}

int64_t LongestOf(const std::vector<RestartedAttempt>& attempts) {
  int64_t longest_ns = 0;
  for (const RestartedAttempt& attempt : attempts) {
    longest_ns = std::max(longest_ns, attempt.duration_ns);
  }
  return longest_ns;
}

}  // namespace

int64_t LongestAttemptNs(const Record& record,
                         const std::vector<Interruption>& all) {
  return LongestOf(RestartedAttempts(record, all));
}

std::optional<int64_t> TimeOfGivingUp(const Record& record,
                                      const std::vector<Interruption>& all) {
  const RunSetup& setup = record.setup;
  const std::vector<RestartedAttempt> attempts = RestartedAttempts(record, all);
  if (attempts.size() < 2 || setup.rejoins || record.launchers.size() != 1) {
    return std::nullopt;
  }
  const int64_t begin_ns = record.launchers[0].events.front().t_ns;
  const int64_t attempt_ns = LongestOf(attempts);
  const RestartedAttempt& last = attempts.back();
  int64_t pause_ns = last.pause_ns;
  // RestartBudget::Spend doubles the pause, up to a maximum, after an attempt
  // that reached no new step and took no longer than the pause that follows it.
  // Other attempts reset it. So if the last pause grew, it still doubles.
  const bool doubles = pause_ns > attempts[attempts.size() - 2].pause_ns;
  int64_t end_ns = last.restart_ns - begin_ns + pause_ns + attempt_ns;
  for (auto i = static_cast<int>(attempts.size());
       i < setup.max_restarts && end_ns < INT64_MAX / 4; ++i) {
    if (doubles) pause_ns = std::min(2 * pause_ns, setup.restart_pause_ns);
    end_ns += pause_ns + attempt_ns;
  }
  return end_ns;
}

}  // namespace gauntlet
