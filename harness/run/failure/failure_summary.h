// Describes a failed case in sentences: the faults, the recovery, and whether
// the trained result is right.
#ifndef GAUNTLET_HARNESS_RUN_FAILURE_FAILURE_SUMMARY_H_
#define GAUNTLET_HARNESS_RUN_FAILURE_FAILURE_SUMMARY_H_

#include "harness/record/record.h"
#include "harness/record/result/result.h"

namespace gauntlet {

// Sets the summary and the losses of a failed case. If its cause is not known
// yet, finds the cause and its consequences in the record. If a damaged
// checkpoint was loaded, the cause begins with this load.
//
// REQUIRES: result.verdict is the verdict on the record.
void ExplainFailure(const Record& record, CaseResult& result);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_FAILURE_SUMMARY_H_
