// A crash test as a case of a scenario: harness/scenario/trainer_setup.h.
#ifndef GAUNTLET_HARNESS_TRAINER_TRAINER_CASE_H_
#define GAUNTLET_HARNESS_TRAINER_TRAINER_CASE_H_

#include "engine/status.h"
#include "harness/record/verdict.h"
#include "harness/scenario/trainer_setup.h"
#include "harness/trainer/run/crash_test_plan.h"
#include "harness/trainer/verdict/crash_test_result.h"

namespace gauntlet {

// kInvalidArgument: the expression for steps is none.
Result<CrashTestPlan> PlanOfTrainer(const TrainerSetup& setup);

// The crashes of the scenario's faults count, not those for judging.
// Inconclusive: one of them did not happen or was not tried, or it is not known
// from which checkpoint the run resumed.
Verdict VerdictOnTrainer(const CrashTestResult& result);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_TRAINER_TRAINER_CASE_H_
