// Random fault plans, by swarm testing: for each plan, a few kinds of faults
// and points are drawn first, then its faults from these alone, so that rare
// combinations occur (Groce et al., "Swarm Testing", ISSTA 2012).
#ifndef GAUNTLET_HARNESS_EXPLORE_PLAN_RANDOM_PLAN_H_
#define GAUNTLET_HARNESS_EXPLORE_PLAN_RANDOM_PLAN_H_

#include <cstddef>
#include <cstdint>

#include "harness/explore/trial/explore_case.h"

namespace gauntlet {

// Returns the index of the set-up of case `number`. Half of the cases have the
// first set-up. Depends on its arguments alone. REQUIRES: setups > 0.
size_t RandomSetup(size_t setups, uint64_t seed, uint64_t number);

// Returns the plan of case `number`: valid, with 1 to space.max_faults faults.
// If max_faults is 0 the plan has none, but its seed still varies the order of
// events. Depends on its arguments alone. If space.reach is known, an
// undisturbed run reaches the first fault. The run need not reach the others.
FaultPlan RandomPlan(const PlanSpace& space, uint64_t seed, uint64_t number);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_PLAN_RANDOM_PLAN_H_
