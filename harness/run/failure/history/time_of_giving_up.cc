#include "harness/run/failure/history/time_of_giving_up.h"

#include <algorithm>

namespace gauntlet {

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
  const int64_t longest_ns = LongestAttemptNs(all);
  if (longest_ns == 0 || setup.rejoins || record.launchers.size() != 1 ||
      record.launchers[0].events.empty()) {
    return std::nullopt;
  }
  const auto restarts = static_cast<int>(
      std::ranges::count(all, Reaction::kRestartsJob, &Interruption::reaction));
  const Interruption& last = all.back();
  const int64_t attempt_ns =  // start of the last attempt
      last.reaction == Reaction::kNone ? last.from_ns : last.reaction_ns;
  int64_t end_ns =
      attempt_ns - record.launchers[0].events.front().t_ns + longest_ns;
  // The pause before a restart doubles up to the longest one.
  int64_t pause_ns = setup.first_restart_pause_ns;
  for (int i = 0; i < setup.max_restarts && end_ns < INT64_MAX / 4; ++i) {
    if (i >= restarts) end_ns += longest_ns + pause_ns;
    pause_ns = std::min(2 * pause_ns, setup.restart_pause_ns);
  }
  return end_ns;
}

}  // namespace gauntlet
