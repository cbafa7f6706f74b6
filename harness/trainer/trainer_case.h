// Runs a scenario's `trainer` (harness/scenario/trainer_setup.h) as a crash
// test.
#ifndef GAUNTLET_HARNESS_TRAINER_TRAINER_CASE_H_
#define GAUNTLET_HARNESS_TRAINER_TRAINER_CASE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/status.h"
#include "harness/record/verdict.h"
#include "harness/scenario/trainer_setup.h"
#include "harness/trainer/run/crash_test_plan.h"
#include "harness/trainer/verdict/crash_test_result.h"

namespace gauntlet {

// kInvalidArgument: the expression for steps is invalid.
Result<CrashTestPlan> PlanOfTrainer(const TrainerSetup& setup);

// Returns the verdict on the crashes that the scenario's faults name. Kills
// that were added only for judging do not count. Inconclusive: a crash did not
// happen or was not tried, or it is not known from which checkpoint a run
// resumed.
Verdict VerdictOnTrainer(const CrashTestResult& result);

// Returns the reasons of the findings, each with its number of crash states if
// there are several findings; "" if there is none.
std::string CauseOnTrainer(const CrashTestResult& result);

// Returns advice on a test that did not pass: how to change the program, where
// the report is, and the script that repeats the first finding. `folder`:
// folder of the test.
std::string AdviceOnTrainer(const CrashTestResult& result,
                            const std::string& folder);

// Returns advice if the test failed because a file or directory was missing, or
// because the program is not executable; "" for other errors. `directory`: the
// directory in which the harness runs, and in which relative paths of the
// trainer start. The advice names it.
std::string AdviceOnStartError(const Status& failed,
                               std::string_view directory);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_TRAINER_TRAINER_CASE_H_
