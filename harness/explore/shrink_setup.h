// Makes the job and the cluster around a shrunken plan small, where the plan
// breaks the same thing in a smaller one.
#ifndef GAUNTLET_HARNESS_EXPLORE_SHRINK_SETUP_H_
#define GAUNTLET_HARNESS_EXPLORE_SHRINK_SETUP_H_

#include "harness/explore/laboratory.h"
#include "harness/run/reference.h"

namespace gauntlet {

struct ShrunkSetup {
  Case setup;
  Trial trial;  // of the plan in it
  int tries = 0;
};

// The fewest workers, then the fewest epochs, then the fewest steps. The job
// stays what it is beside its horizon. Each try makes a reference run too, so
// there are about a dozen of them. `trial` is the plan's in `setup` and broke
// something.
ShrunkSetup ShrinkSetup(const Case& setup, const FaultPlan& plan,
                        const Trial& trial, References& references);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_SHRINK_SETUP_H_
