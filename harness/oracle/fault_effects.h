// Whether the faults of the plan did what they were to do.
#ifndef GAUNTLET_HARNESS_ORACLE_FAULT_EFFECTS_H_
#define GAUNTLET_HARNESS_ORACLE_FAULT_EFFECTS_H_

#include "harness/oracle/check.h"
#include "harness/oracle/outline.h"

namespace gauntlet {

// Each planned fault fired and had the effect that its kind states. A breach is
// no fault of the engine: it leaves the case without a verdict.
void CheckFaultEffects(const Outline& outline, Check& check);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_ORACLE_FAULT_EFFECTS_H_
