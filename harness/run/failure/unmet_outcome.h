// Explains why a run restarted, gave up, did not restart or did not end,
// contrary to its scenario.
#ifndef GAUNTLET_HARNESS_RUN_FAILURE_UNMET_OUTCOME_H_
#define GAUNTLET_HARNESS_RUN_FAILURE_UNMET_OUTCOME_H_

#include <string>

#include "harness/oracle/history/outline.h"
#include "harness/record/verdict.h"

namespace gauntlet {

// Returns one of:
//   - "fault c (hang worker 1 at step.begin, step 8) ended attempt 1: …", if
//     the run had more restarts than expected; the text ends with all other
//     interrupted attempts: "fault c also ended attempts 2 to 5";
//   - "fault c (…) ended attempts 1 to 3; the launcher gave up: restarts used
//     up (cluster.restart.max is 2)";
//   - "the save of step 24 failed: fault full (ENOSPC in …); …", if the run
//     ended because a state could not be saved;
//   - "fault n (…) ended attempt 1: …; the launcher exited with code 143 and
//     was not started again (preemption.requeue is 0)", if the launcher stopped
//     on a notice or was killed;
//   - "no process ended before training was complete, …" or "fault c (…) ended
//     attempt 1; the next attempt completed the training, …", if the run had
//     fewer restarts than expected, with the faults that only delayed a worker.
// Returns "" if the expectations are met, or if the record shows no reason.
std::string ExplainOutcome(const Outline& outline, const Verdict& verdict);

// Returns "fault c (hang all at step.begin, step 9) fired; no process ended and
// no worker was declared lost; …" if the run did not end by itself; else "". If
// the run used up its time, the text begins with the pace of the steps (if the
// steps do not fit into this time) and with the earlier attempts.
std::string ExplainHang(const Outline& outline);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_UNMET_OUTCOME_H_
