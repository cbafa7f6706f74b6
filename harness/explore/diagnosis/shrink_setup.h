// Shrinks the job and the cluster of a shrunken plan as long as the plan still
// shows its violation.
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
  std::optional<PlanRun> run;
  int tries = 0;
  bool finished = true;  // no limit was reached: every candidate was tried
};

// Returns the smallest set-up found in which the plan shows options.violation.
// First reduces the number of workers, then epochs, then steps. Nothing else of
// the job changes. If a scenario file can express `setup`, it can express the
// result too. Each try also makes a reference run, so there are only about a
// dozen tries, within the options' limits. REQUIRES: options.violation has a
// value.
ShrunkSetup ShrinkSetup(const Case& setup, const FaultPlan& plan,
                        References& references, const ShrinkOptions& options);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_DIAGNOSIS_SHRINK_SETUP_H_
