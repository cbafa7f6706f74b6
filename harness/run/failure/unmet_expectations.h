// Explains a run that passed every check, but does not meet the expectations of
// its scenario.
#ifndef GAUNTLET_HARNESS_RUN_FAILURE_UNMET_EXPECTATIONS_H_
#define GAUNTLET_HARNESS_RUN_FAILURE_UNMET_EXPECTATIONS_H_

#include <string>

#include "harness/oracle/history/outline.h"
#include "harness/record/verdict.h"

namespace gauntlet {

// Returns a sentence about the first unmet expectation: the events of the run
// that led to the found value, such as "the save of step 8 had been
// acknowledged when worker 1 was killed, so the run resumed from step 8". If
// the record does not show why, the sentence states that the run itself was
// right, and the value to expect instead. Returns "" if the case failed for
// another reason.
//
// For expectations that unmet_outcome.h and old_resume.h do not explain.
std::string ExplainExpectations(const Outline& outline, const Verdict& verdict);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_UNMET_EXPECTATIONS_H_
