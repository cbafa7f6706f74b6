// Checks that a run violates.
#ifndef GAUNTLET_HARNESS_RUN_FAILURE_VIOLATED_CHECKS_H_
#define GAUNTLET_HARNESS_RUN_FAILURE_VIOLATED_CHECKS_H_

#include <string>
#include <vector>

#include "harness/record/invariants.h"
#include "harness/record/verdict.h"

namespace gauntlet {

// Returns the names of the violated invariants, in the order of the verdict.
// Leaves out Invariant::kFaultFired: a fault that did not fire is no failure of
// the engine.
std::vector<std::string> ViolatedIn(const Verdict& verdict);

// Returns true iff the invariant is the only one of ViolatedIn.
bool IsOnlyViolated(const Verdict& verdict, Invariant invariant);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_VIOLATED_CHECKS_H_
