// Faults that make a stale worker: a chief that its launcher has given up on
// and replaced, and that later continues where it hung.
#ifndef GAUNTLET_HARNESS_EXPLORE_PLAN_SURVIVOR_PLAN_H_
#define GAUNTLET_HARNESS_EXPLORE_PLAN_SURVIVOR_PLAN_H_

#include <vector>

#include "harness/explore/plan/random_choices.h"
#include "harness/explore/trial/explore_case.h"

namespace gauntlet {

// Returns at most `count` faults for a set-up with separate hosts; none in half
// of the draws. The chief is partitioned and hangs in a claim or at the end of
// a save, for longer than a launcher waits. A third fault delays its
// successors, or damages the checkpoint from which they would resume. Returns
// none if the space lacks a kind or a point that these need.
std::vector<Fault> SurvivorFaults(const PlanSpace& space, int count,
                                  RandomChoices draw);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_PLAN_SURVIVOR_PLAN_H_
