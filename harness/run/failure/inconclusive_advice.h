// Advice on an inconclusive case, unless a fault without an effect is the
// reason (idle_fault.h).
#ifndef GAUNTLET_HARNESS_RUN_FAILURE_INCONCLUSIVE_ADVICE_H_
#define GAUNTLET_HARNESS_RUN_FAILURE_INCONCLUSIVE_ADVICE_H_

#include <string>
#include <string_view>

#include "harness/record/record.h"
#include "harness/record/result/result.h"

namespace gauntlet {

// Returns advice on an error of the machine: a full disk, a limit on files,
// memory or threads, or a deleted folder. Returns "" for other errors.
std::string_view AdviceOnMachineError(std::string_view error);

// Returns the change after which the case can have a verdict: "remove grace
// from `invariants` under expect (c.yaml:9), or …", or AdviceOnMachineError.
// Otherwise names the command or the files that show the run; "" if there are
// none.
//
// REQUIRES: result.verdict is the verdict on the record, and inconclusive.
std::string AdviceOnInconclusive(const Record& record,
                                 const CaseResult& result);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_INCONCLUSIVE_ADVICE_H_
