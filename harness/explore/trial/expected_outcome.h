// Expected outcome of an explored run, whose faults no scenario describes.
//
// The expected outcome depends on the faults that fired
// (chaos/inject/plan/plan.h lists what may be expected afterwards) and on how
// the launchers ended. The judge checks whether the launchers had to end that
// way.
#ifndef GAUNTLET_HARNESS_EXPLORE_TRIAL_EXPECTED_OUTCOME_H_
#define GAUNTLET_HARNESS_EXPLORE_TRIAL_EXPECTED_OUTCOME_H_

#include "harness/record/record.h"

namespace gauntlet {

// Restart budget that the faults of one plan can use up.
inline constexpr int kFewRestarts = 1;

// Returns the outcome that the run must have, the first that applies:
// - kCompletes if no fault fired. Exception: several launches are planned, and
//   each was started once. The launches after the first then count as restarts
//   (kRecovers below);
// - kRefuses if the last launcher exited with 7; the judge checks whether that
//   is allowed (clean-refusal);
// - kRecovers if there was a restart, or if the run did not finish;
// - kCompletes in all other cases.
// REQUIRES: a launcher came to an end; record.faults are those that fired.
Outcome ExpectedOutcome(const Record& record);

// Returns true iff the run ended on its own with an error and may have had no
// way to recover:
// - faults at every occurrence killed so many workers, each at least three
//   times, that the others are fewer than the job needs;
// - a process exited with an error, after an older process had finished and
//   begun to delete the checkpoints that both used;
// - a process that had finished training had as many disk errors as an
//   operation has attempts;
// - the restart budget was at most kFewRestarts, and is used up;
// - workers rejoin, and a packet loss or delay lasts as long as its process; or
// - a disk or device error fired in the last process of a worker and is not
//   over. It is an error at every occurrence, or at as many in a row as an
//   operation has attempts.
bool MayGiveUp(const Record& record);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_TRIAL_EXPECTED_OUTCOME_H_
