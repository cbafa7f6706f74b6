// Faults that make a stale worker: a chief that its launcher has given up on
// and replaced, and that later continues where it hung.
#ifndef GAUNTLET_HARNESS_EXPLORE_PLAN_STALE_WORKER_PLAN_H_
#define GAUNTLET_HARNESS_EXPLORE_PLAN_STALE_WORKER_PLAN_H_

#include <vector>

#include "harness/explore/plan/random_choices.h"
#include "harness/explore/trial/explore_case.h"

namespace gauntlet {

// Returns at most `count` faults for a set-up with one host per worker. They
// make the chief stale: it is partitioned, and hangs in a claim or at the end
// of a save for longer than its launcher waits for it. A third fault delays the
// workers that replace the chief, or damages the checkpoint from which they
// would resume. Returns no faults in half of the draws. Also returns none if
// `count` is below 2, or if the space lacks a kind or a point that the first
// two faults need.
std::vector<Fault> StaleWorkerFaults(const PlanSpace& space, int count,
                                     RandomChoices draw);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_PLAN_STALE_WORKER_PLAN_H_
