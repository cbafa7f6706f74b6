// Explains a run that passed every check, but does not meet the expectations of
// its scenario.
#ifndef GAUNTLET_HARNESS_RUN_FAILURE_UNMET_EXPECTATIONS_H_
#define GAUNTLET_HARNESS_RUN_FAILURE_UNMET_EXPECTATIONS_H_

#include <string>

#include "harness/oracle/history/outline.h"
#include "harness/record/verdict.h"

namespace gauntlet {

// Returns a sentence about the first unmet expectation that the record
// explains: the events that led to the found value, such as "the save of step 8
// had been acknowledged when worker 1 was killed, so the run resumed from step
// 8". If the record explains none, the sentence states that the run itself was
// right, and the value to expect instead. Returns "" if a check failed too.
//
// unmet_outcome.h and old_resume.h explain some expectations in more detail:
// call this if they return "".
std::string ExplainExpectations(const Outline& outline, const Verdict& verdict);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_UNMET_EXPECTATIONS_H_
