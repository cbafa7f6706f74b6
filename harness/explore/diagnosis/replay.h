// Holds a run that was made again against the record of the first one.
#ifndef GAUNTLET_HARNESS_EXPLORE_DIAGNOSIS_REPLAY_H_
#define GAUNTLET_HARNESS_EXPLORE_DIAGNOSIS_REPLAY_H_

#include <optional>
#include <string>

#include "harness/record/record.h"
#include "harness/record/verdict.h"
#include "harness/run/case_runner.h"
#include "harness/run/reference.h"
#include "harness/scenario/scenario.h"

namespace gauntlet {

// A verdict in a line: "FAIL trajectory state-digest: after step 11 …"; the
// kind alone for a pass, with the reason for the others; of
// a canary that passes what is broken: "planted bug caught: trajectory …".
std::string VerdictLine(const Verdict& verdict);
// The same with this finding of the verdict in the place of its first, which is
// then named behind it.
std::string VerdictLine(const Verdict& verdict, const Finding& shown);

// The first difference between the two runs, in a line; "" if the second is the
// first again. Simulated runs are held against each other event by event; where
// one was in real processes, whose times are their own, only verdict and first
// finding are.
std::string FirstReplayDifference(const Record& recorded, const Record& now);

// Returns the first step, operation, replica and value at which the run differs
// from the reference run (DescribeDivergence); empty if it never differs. A
// real run is repeated in the simulated world, where operations can be
// observed; the line then begins "in the simulated world:".
Result<Explanation> ExplainTrajectory(const Case& one, const Record& record,
                                      References& references);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_DIAGNOSIS_REPLAY_H_
