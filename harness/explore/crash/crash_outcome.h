// Outcome of a recovery from a crash state, and the outcomes that are allowed.
#ifndef GAUNTLET_HARNESS_EXPLORE_CRASH_CRASH_OUTCOME_H_
#define GAUNTLET_HARNESS_EXPLORE_CRASH_CRASH_OUTCOME_H_

#include <cstdint>
#include <string>

#include "harness/explore/crash/crash_recovery.h"
#include "harness/explore/crash/crash_window.h"

namespace gauntlet {

// Outcome of the recovery from a crash state. It has no message; repeat the
// recovery to get one.
struct CrashOutcome {
  RecoveryEnd end = RecoveryEnd::kFailed;
  int index = Trajectory::kNowhere;  // kState: of the state, in the trajectory
  // kState: index of the newest remaining checkpoint with a finite state.
  int finite_index = Trajectory::kNowhere;
  bool had_checkpoint = false;  // a committed checkpoint was on the disk

  bool operator==(const CrashOutcome&) const = default;
};

enum class ColdStartAllowed : uint8_t { kNo, kWithoutCheckpoint, kYes };

// Outcomes that are allowed after a cut (a loss of power).
struct AllowedCrashOutcome {
  int at_least = 0;  // least allowed index in the trajectory
  // Least allowed index of the newest remaining checkpoint with a finite state.
  int finite_at_least = 0;
  bool may_refuse = false;
  ColdStartAllowed cold_start = ColdStartAllowed::kNo;
};

// Returns true iff the outcome is one of those allowed.
bool IsAllowed(const CrashOutcome& outcome, const AllowedCrashOutcome& allowed);

std::string DescribeAllowed(const AllowedCrashOutcome& allowed,
                            const Trajectory& trajectory);
std::string DescribeFound(const Recovered& found, const Trajectory& trajectory);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_CRASH_CRASH_OUTCOME_H_
