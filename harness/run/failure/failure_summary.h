// A failed case in sentences: the faults, the recovery, and if the training's
// result is right.
#ifndef GAUNTLET_HARNESS_RUN_FAILURE_FAILURE_SUMMARY_H_
#define GAUNTLET_HARNESS_RUN_FAILURE_FAILURE_SUMMARY_H_

#include "harness/record/record.h"
#include "harness/record/result/result.h"

namespace gauntlet {

// Sets the summary of a case that failed, and its losses. A cause that is not
// known yet, and what follows from it, is looked for in the record.
//
// REQUIRES: result.verdict is the verdict on the record.
void ExplainFailure(const Record& record, CaseResult& result);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_FAILURE_SUMMARY_H_
