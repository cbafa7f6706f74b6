// Advice that moves a fault to other steps.
#ifndef GAUNTLET_HARNESS_RUN_FAILURE_REMEDY_FAULT_STEP_H_
#define GAUNTLET_HARNESS_RUN_FAILURE_REMEDY_FAULT_STEP_H_

#include <cstdint>
#include <string>

#include "harness/record/record.h"

namespace gauntlet {

// Steps from `first` to `last`, both included. At least one is not 0.
struct StepRange {
  uint64_t first = 0;  // 0: no lower bound
  uint64_t last = 0;   // 0: no upper bound
};

// Returns true iff the scenario sets the step in which the fault fires, and the
// fault could fire in any other step, too. False for a fault at a point that
// some steps do not reach, such as one of a save or of an epoch's end.
bool HasOwnStep(const RecordFault& fault);

// Returns "set the step of fault c (6) to a value from 9 to 12" or, without a
// lower or an upper bound, "… to 12 or earlier" or "… to 9 or later". For a
// fault without a step of its own, returns "let fault c fire in a step from 9
// to 12".
std::string StepAdvice(const RecordFault& fault, const StepRange& steps);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_REMEDY_FAULT_STEP_H_
