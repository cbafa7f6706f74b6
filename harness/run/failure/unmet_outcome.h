// Explains why a run restarted, gave up or did not restart, although its
// scenario expects another outcome.
#ifndef GAUNTLET_HARNESS_RUN_FAILURE_UNMET_OUTCOME_H_
#define GAUNTLET_HARNESS_RUN_FAILURE_UNMET_OUTCOME_H_

#include <string>

#include "harness/oracle/history/outline.h"
#include "harness/record/verdict.h"

namespace gauntlet {

// Returns one of:
//   - "fault c (hang worker 1 at step.begin, step 8) ended attempt 1: …", if
//     the run was expected to complete and restarted;
//   - "fault c (…) ended attempts 1, 2, 3; the launcher gave up: restarts used
//     up (cluster.restart.max is 2)";
//   - "no process ended before training was complete, …", if the run was
//     expected to recover and did not restart.
// Returns "" if the expectation `outcome` is met, or if the record shows no
// reason.
std::string ExplainOutcome(const Outline& outline, const Verdict& verdict);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_UNMET_OUTCOME_H_
