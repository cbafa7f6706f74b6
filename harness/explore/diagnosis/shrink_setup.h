// Makes the job and the cluster around a shrunken plan small, where the plan
// breaks the same thing in a smaller one.
#ifndef GAUNTLET_HARNESS_EXPLORE_DIAGNOSIS_SHRINK_SETUP_H_
#define GAUNTLET_HARNESS_EXPLORE_DIAGNOSIS_SHRINK_SETUP_H_

#include <optional>

#include "harness/explore/diagnosis/shrink.h"
#include "harness/explore/trial/plan_runner.h"
#include "harness/run/reference.h"

namespace gauntlet {

struct ShrunkSetup {
  Case setup;
  // Run of the plan in it; nullopt: nothing is smaller.
  std::optional<PlanRun> trial;
  int tries = 0;
  bool finished = true;  // no limit was met: all that was to be tried was
};

// The fewest workers, then the fewest epochs, then the fewest steps in which
// the plan breaks options.breach, and which a scenario can say if it can say
// `setup`. The job stays what it is beside its horizon.
// Each try makes a reference run too, so there are about a dozen of them, and
// none behind the options' limits. REQUIRES: options.breach is there.
ShrunkSetup ShrinkSetup(const Case& setup, const FaultPlan& plan,
                        References& references, const ShrinkOptions& options);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_DIAGNOSIS_SHRINK_SETUP_H_
