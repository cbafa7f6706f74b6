// Random fault plans, by swarm: each plan draws the kinds and the points that
// it may use at all, then its faults from those, so that rare mixtures come up
// (Groce et al., "Swarm Testing", ISSTA 2012).
#ifndef GAUNTLET_HARNESS_EXPLORE_PLAN_RANDOM_PLAN_H_
#define GAUNTLET_HARNESS_EXPLORE_PLAN_RANDOM_PLAN_H_

#include <cstddef>
#include <cstdint>

#include "harness/explore/trial/explore_case.h"

namespace gauntlet {

// Which set-up case `number` has; half of all have the first one. A function of
// its arguments alone. REQUIRES: setups > 0.
size_t RandomSetup(size_t setups, uint64_t seed, uint64_t number);

// The plan of case `number`: valid, of 1 to space.max_faults faults (of none
// where that is 0: another order of events all the same), and a
// function of its arguments alone. Its first fault is at a place that
// space.reach has, where that is known; the others need not be reached.
FaultPlan RandomPlan(const PlanSpace& space, uint64_t seed, uint64_t number);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_PLAN_RANDOM_PLAN_H_
