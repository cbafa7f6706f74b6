// How a run with made-up faults was to come out.
//
// No scenario says it. It follows from the budget (chaos/inject/plan.h), the
// faults that fired and the saves that were left, and not from how the run did
// come out: that may be the bug.
#ifndef GAUNTLET_HARNESS_EXPLORE_OWED_OUTCOME_H_
#define GAUNTLET_HARNESS_EXPLORE_OWED_OUTCOME_H_

#include "harness/record/record.h"

namespace gauntlet {

// So few restarts the faults of one plan use up.
inline constexpr int kFewRestarts = 1;

// kRefuses where silent damage has taken every acknowledged save and the run
// had to go on from one; else the end of training, with a restart where there
// was one or where the run did not get there. Where nothing fired nothing is to
// be restarted.
// REQUIRES: a launcher came to an end; record.faults are those that fired.
Outcome OutcomeOwed(const Record& record);

// Whether the run ended with an error, and may have had no way to go on: faults
// at every hit, or at as many as an operation is tried, fired in the last life
// of a worker, or so many died again and again that too few are left, or a link
// of one that rejoins stays bad; or a late survivor that finished the run had
// deleted the store under it; or it was done, and the disk failed too often to
// delete its own; or it had at most kFewRestarts, and they are used up.
bool MayGiveUp(const Record& record);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_OWED_OUTCOME_H_
