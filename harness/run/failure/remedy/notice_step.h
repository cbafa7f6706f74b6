// Advice that moves a preemption notice, so that the job stops elsewhere.
#ifndef GAUNTLET_HARNESS_RUN_FAILURE_REMEDY_NOTICE_STEP_H_
#define GAUNTLET_HARNESS_RUN_FAILURE_REMEDY_NOTICE_STEP_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "harness/record/record.h"
#include "harness/run/failure/remedy/fault_step.h"

namespace gauntlet {

// Returns "set preemption.grace (5s) to 0s, as training continues after a
// notice …". `also`: a change to make with it, such as " and remove fault c".
std::string WithoutNoticeGrace(const RunSetup& setup,
                               std::string_view also = "");

// Returns the change after which the notice stops the job in one of these
// steps: "set the step of fault n (9) to 5". If the job trained on for a part
// of preemption.grace, and so stopped (`stopped`) in a later step than that of
// the notice, returns "set preemption.grace (5s) to 0s, as training continues
// …", with another step of the notice if needed. Returns "" if the stop may
// follow the notice by another number of steps after the change: if the job
// stopped in another step for another reason, if a worker polls for the notice,
// or if an execution has several steps. Returns "" also if a step is the last
// one of training or later: a notice stops nothing there. REQUIRES: the fault
// gives a notice.
std::string StopAdvice(const Record& record, const RecordFault& notice,
                       uint64_t stopped, const StepRange& steps);

// Returns StopAdvice for the step that the job is to save: "set the step of
// fault n (9) to 5, as the job saves the step of the notice", or the change of
// preemption.grace; "" for step 0.
std::string SaveAtStopAdvice(const Record& record, const RecordFault& notice,
                             uint64_t stopped, uint64_t step);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_REMEDY_NOTICE_STEP_H_
