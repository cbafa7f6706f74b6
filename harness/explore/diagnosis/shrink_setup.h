// Shrinks the job and the cluster around a shrunken plan while the plan breaks
// the same thing.
#ifndef GAUNTLET_HARNESS_EXPLORE_DIAGNOSIS_SHRINK_SETUP_H_
#define GAUNTLET_HARNESS_EXPLORE_DIAGNOSIS_SHRINK_SETUP_H_

#include <optional>

#include "harness/explore/diagnosis/shrink.h"
#include "harness/explore/trial/plan_runner.h"
#include "harness/run/reference.h"

namespace gauntlet {

struct ShrunkSetup {
  Case setup;
  // Run of the plan in the smaller set-up; nullopt: none was found.
  std::optional<PlanRun> trial;
  int tries = 0;
  bool finished = true;  // no limit was reached: every candidate was tried
};

// Returns the set-up with the fewest workers, then the fewest epochs, then the
// fewest steps in which the plan shows options.violation. If a scenario can
// express `setup`, one can express the result. Of the job, only the horizon
// changes. Each try makes a reference run too, so there are only about a dozen,
// within the options' limits. REQUIRES: options.violation has a value.
ShrunkSetup ShrinkSetup(const Case& setup, const FaultPlan& plan,
                        References& references, const ShrinkOptions& options);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_DIAGNOSIS_SHRINK_SETUP_H_
