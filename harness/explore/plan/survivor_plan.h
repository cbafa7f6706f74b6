// Faults that make a late survivor: a chief that its launcher has given up and
// replaced, and that goes on where it was.
#ifndef GAUNTLET_HARNESS_EXPLORE_PLAN_SURVIVOR_PLAN_H_
#define GAUNTLET_HARNESS_EXPLORE_PLAN_SURVIVOR_PLAN_H_

#include <vector>

#include "harness/explore/plan/random_choices.h"
#include "harness/explore/trial/explore_case.h"

namespace gauntlet {

// At most `count` faults for a set-up with separate hosts, none in half of the
// draws: the chief is cut off and stands still in a claim or at the end of a
// save, for longer than a launcher has patience. A third fault holds up its
// successors meanwhile, or damages the checkpoint that they would resume from.
// None where the space has not what they need.
std::vector<Fault> SurvivorFaults(const PlanSpace& space, int count,
                                  RandomChoices draw);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_PLAN_SURVIVOR_PLAN_H_
