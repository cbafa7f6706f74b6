// Compares a repeated run with the record of the first run.
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

// Returns the first finding of the invariants, or else of the scenario's own
// expectations; nullopt if there is none.
std::optional<Finding> FirstFinding(const Verdict& verdict);

// Returns the verdict as one line: "FAIL trajectory state-digest: after step 11
// …"; without findings, the verdict's kind and its reason, if any. For a
// mutation test that passes: "planted bug caught: trajectory …".
std::string VerdictLine(const Verdict& verdict);
// As VerdictLine(verdict), but shows the finding `shown`. If it is not the
// first finding of the verdict, names the first one at the end.
std::string VerdictLine(const Verdict& verdict, const Finding& shown);

// Returns the first difference between the two runs, as one line; "" if they
// are equal. Two simulated runs are compared event by event. If one of them ran
// in real processes, its times cannot be repeated, so only verdict and first
// finding are compared.
std::string FirstReplayDifference(const Record& recorded, const Record& now);

// Returns the first step, operation, replica and value at which the run differs
// from the reference run (DescribeDivergence); empty if it never differs. A
// real run is repeated in the simulated world, where operations can be
// observed; the line then begins "in the simulated world:".
Result<Explanation> ExplainTrajectory(const Case& one, const Record& record,
                                      References& references);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_DIAGNOSIS_REPLAY_H_
