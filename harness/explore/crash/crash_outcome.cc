#include "harness/explore/crash/crash_outcome.h"

#include <fmt/format.h>

namespace gauntlet {

bool IsAllowed(const CrashOutcome& outcome,
               const AllowedCrashOutcome& allowed) {
  switch (outcome.end) {
    case RecoveryEnd::kState:
      return outcome.index != Trajectory::kNowhere &&
             outcome.index >= allowed.at_least &&
             (allowed.finite_at_least == 0 ||
              outcome.finite_index >= allowed.finite_at_least);
    case RecoveryEnd::kColdStart:
      return allowed.cold_start == ColdStartAllowed::kYes ||
             (allowed.cold_start == ColdStartAllowed::kWithoutCheckpoint &&
              !outcome.had_checkpoint);
    case RecoveryEnd::kRefused:
      return allowed.may_refuse;
    case RecoveryEnd::kFailed:
      return false;
  }
  return false;
}

std::string DescribeAllowed(const AllowedCrashOutcome& allowed,
                            const Trajectory& trajectory) {
  std::string text = allowed.at_least > 0
                         ? "the state of " +
                               trajectory.NameOf(allowed.at_least) +
                               " or a later one"
                         : "a state of the reference run";
  if (allowed.finite_at_least > 0) {
    text +=
        fmt::format(", and the finite state of {} or a later one on the disk",
                    trajectory.NameOf(allowed.finite_at_least));
  }
  if (allowed.cold_start != ColdStartAllowed::kNo) text += ", or a cold start";
  if (allowed.may_refuse) text += ", or a refusal";
  return text;
}

std::string DescribeFound(const Recovered& found,
                          const Trajectory& trajectory) {
  const int index = trajectory.IndexOf(found.state_digest, found.step);
  switch (found.end) {
    case RecoveryEnd::kState:
      return index == Trajectory::kNowhere
                 ? fmt::format("{}: state {} is not the reference's at step {}",
                               found.detail, found.state_digest.ToString(),
                               found.step)
                 : fmt::format("{}: {}{}", found.detail,
                               trajectory.NameOf(index),
                               found.finite_step == 0
                                   ? ", and no finite state"
                                   : fmt::format(", newest finite step {}",
                                                 found.finite_step));
    case RecoveryEnd::kColdStart:
      return "a cold start";
    case RecoveryEnd::kRefused:
      return "a refusal: " + found.detail;
    case RecoveryEnd::kFailed:
      return "an error: " + found.detail;
  }
  return "";
}

}  // namespace gauntlet
