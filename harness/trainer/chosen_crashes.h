// Crashes that a plan names one by one, in place of all that there are.
#ifndef GAUNTLET_HARNESS_TRAINER_CHOSEN_CRASHES_H_
#define GAUNTLET_HARNESS_TRAINER_CHOSEN_CRASHES_H_

#include <optional>
#include <vector>

#include "chaos/crash/crash_state.h"
#include "engine/status.h"
#include "harness/trainer/fault_runs.h"
#include "harness/trainer/run/crash_test_plan.h"
#include "harness/trainer/run/recording.h"
#include "harness/trainer/verdict/checkpoint_versions.h"

namespace gauntlet {

// A state, or a fault that is met on the way.
struct ChosenCrash {
  std::optional<CrashState> state;
  std::optional<FaultRun> fault;
  // A kill that shows which checkpoints are complete; not named by the plan.
  bool is_for_judging = false;
};

// True if the plan names crashes.
bool NamesCrashes(const CrashTestPlan& plan);

// All crashes at the places that the plan names, or that of its id, and a few
// kills for judging them. kInvalidArgument, in one line: the recording has no
// such operation, or no crash of that id.
Result<std::vector<ChosenCrash>> ChooseCrashes(
    const CrashTestPlan& plan, const Recording& recording,
    const CheckpointVersions& versions);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_TRAINER_CHOSEN_CRASHES_H_
