// Advice on an inconclusive case, unless a fault without an effect is the
// reason (idle_fault.h).
#ifndef GAUNTLET_HARNESS_RUN_FAILURE_NO_VERDICT_H_
#define GAUNTLET_HARNESS_RUN_FAILURE_NO_VERDICT_H_

#include <string>
#include <string_view>

#include "harness/record/record.h"
#include "harness/record/result/result.h"

namespace gauntlet {

// Returns the change after which a run has room and may open its files: "raise
// the limit on file sizes (ulimit -f) and repeat the run". Returns "" for an
// error that no limit of the machine explains.
std::string_view AdviceOnMachineError(std::string_view error);

// Returns the change after which the case can have a verdict: "remove grace
// from `invariants` under expect (c.yaml:9), or …", or AdviceOnMachineError.
// Else returns where to look. Returns "" if the case has nothing to look at.
//
// REQUIRES: result.verdict is the verdict on the record, and inconclusive.
std::string AdviceWithoutVerdict(const Record& record,
                                 const CaseResult& result);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_NO_VERDICT_H_
