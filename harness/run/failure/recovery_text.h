// Describes the recovery of a run in a sentence: restarts, resumes and cold
// starts, recomputed steps.
#ifndef GAUNTLET_HARNESS_RUN_FAILURE_RECOVERY_TEXT_H_
#define GAUNTLET_HARNESS_RUN_FAILURE_RECOVERY_TEXT_H_

#include <string>

#include "harness/oracle/history/outline.h"
#include "harness/record/record.h"
#include "harness/record/verdict.h"

namespace gauntlet {

// Returns the first resume with a changed state: the worker reported that it
// loaded the saved state, but resumed with another one. Null if there is none.
const RecordEvent* ChangedLoad(const Record& record);

// Returns "1 restart, resumed from the checkpoint of step 5, …". `facts`: those
// of the verdict on the run.
std::string RecoveryText(const Outline& outline, const RunFacts& facts);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_RECOVERY_TEXT_H_
