// Explains an inconclusive case: a fault that never fired, a preemption notice
// that no worker read, or an expectation about a loss that did not happen.
#ifndef GAUNTLET_HARNESS_RUN_FAILURE_IDLE_FAULT_H_
#define GAUNTLET_HARNESS_RUN_FAILURE_IDLE_FAULT_H_

#include "harness/record/record.h"
#include "harness/record/result/result.h"

namespace gauntlet {

// Sets the cause of an inconclusive case, as far as the record shows it, and
// the advice (summary.next): "fault b waits for worker 3, but incarnation 2 has
// workers 0 and 1 (cluster.workers_per_attempt)". If it finds no cause, sets
// only the advice (AdviceOnInconclusive). Changes no other case.
//
// REQUIRES: result.verdict is the verdict on the record.
void ExplainIdleFault(const Record& record, CaseResult& result);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_IDLE_FAULT_H_
