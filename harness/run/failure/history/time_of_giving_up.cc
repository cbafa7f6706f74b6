#include "harness/run/failure/history/time_of_giving_up.h"

#include <algorithm>
#include <cstddef>

namespace gauntlet {
namespace {

// Returns the pauses before the restarts of the job, in their order.
std::vector<int64_t> PausesOf(const LauncherRun& run) {
  std::vector<int64_t> pauses;
  for (const RecordEvent& event : run.events) {
    if (event.kind == RecordKind::kRestarting) pauses.push_back(event.limit_ns);
  }
  return pauses;
}

// Returns the times of the restarts of the job, in their order.
std::vector<int64_t> RestartsOf(const std::vector<Interruption>& all) {
  std::vector<int64_t> restarts;
  for (const Interruption& one : all) {
    if (one.reaction == Reaction::kRestartsJob) {
      restarts.push_back(one.reaction_ns);
    }
  }
  return restarts;
}

// Returns the pause before the restart that follows an attempt of that
// duration: twice the pause before that attempt, up to the longest one, or the
// first pause if the attempt took longer than that.
int64_t NextPause(const RunSetup& setup, int64_t pause_ns, int64_t attempt_ns) {
  const int64_t doubled_ns = std::min(2 * pause_ns, setup.restart_pause_ns);
  return attempt_ns > doubled_ns ? setup.first_restart_pause_ns : doubled_ns;
}

}  // namespace

int64_t LongestAttemptNs(const std::vector<Interruption>& all) {
  int64_t longest_ns = 0;
  for (const Interruption& one : all) {
    if (one.reaction != Reaction::kRestartsJob || one.from_ns == INT64_MIN) {
      continue;
    }
    longest_ns = std::max(longest_ns, one.reaction_ns - one.from_ns);
  }
  return longest_ns;
}

std::optional<int64_t> TimeOfGivingUp(const Record& record,
                                      const std::vector<Interruption>& all) {
  const RunSetup& setup = record.setup;
  const std::vector<int64_t> restarts = RestartsOf(all);
  if (restarts.size() < 2 || setup.rejoins || record.launchers.size() != 1 ||
      record.launchers[0].events.empty()) {
    return std::nullopt;
  }
  const std::vector<int64_t> pauses = PausesOf(record.launchers[0]);
  if (pauses.size() != restarts.size()) return std::nullopt;
  const int64_t begin_ns = record.launchers[0].events.front().t_ns;
  // Longest attempt, without the pause before it.
  int64_t attempt_ns = restarts[0] - begin_ns;
  for (size_t i = 1; i < restarts.size(); ++i) {
    attempt_ns =
        std::max(attempt_ns, restarts[i] - restarts[i - 1] - pauses[i - 1]);
  }
  int64_t pause_ns = pauses.back();
  int64_t end_ns = restarts.back() - begin_ns + pause_ns + attempt_ns;
  for (auto i = static_cast<int>(restarts.size());
       i < setup.max_restarts && end_ns < INT64_MAX / 4; ++i) {
    pause_ns = NextPause(setup, pause_ns, attempt_ns);
    end_ns += pause_ns + attempt_ns;
  }
  return end_ns;
}

}  // namespace gauntlet
