// Checks that the planned faults had their effects.
#ifndef GAUNTLET_HARNESS_ORACLE_FAULT_EFFECTS_H_
#define GAUNTLET_HARNESS_ORACLE_FAULT_EFFECTS_H_

#include "harness/oracle/history/check.h"
#include "harness/oracle/history/outline.h"

namespace gauntlet {

// Checks that each planned fault fired and had the effect of its kind. A
// violation is no bug in the engine: it makes the case inconclusive.
void CheckFaultEffects(const Outline& outline, Check& check);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_ORACLE_FAULT_EFFECTS_H_
