// Chooses the crashes that a plan names, instead of all possible ones.
#ifndef GAUNTLET_HARNESS_TRAINER_CHOSEN_CRASHES_H_
#define GAUNTLET_HARNESS_TRAINER_CHOSEN_CRASHES_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "chaos/crash/crash_state.h"
#include "engine/status.h"
#include "harness/trainer/fault_runs.h"
#include "harness/trainer/run/crash_test_plan.h"
#include "harness/trainer/run/recording.h"
#include "harness/trainer/verdict/checkpoint_versions.h"

namespace gauntlet {

// A crash to try: a crash state, or a fault during the run.
struct ChosenCrash {
  std::optional<CrashState> state;
  std::optional<FaultRun> fault;
  // Index in CrashTestPlan::places of the place that named the crash; nullopt:
  // no place named it.
  std::optional<size_t> place = {};
  // True for a kill that the plan does not name. Such a kill shows which
  // checkpoints are complete.
  bool is_for_judging = false;
};

// Returns true iff the plan names crashes.
bool NamesCrashes(const CrashTestPlan& plan);

// Returns all crashes at the places that the plan names, or the crash with the
// id plan.only, and a few kills that are needed to judge these crashes.
// kInvalidArgument, as one line: the recording has no such operation, or no
// crash with that id.
Result<std::vector<ChosenCrash>> ChooseCrashes(
    const CrashTestPlan& plan, const Recording& recording,
    const CheckpointVersions& versions);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_TRAINER_CHOSEN_CRASHES_H_
