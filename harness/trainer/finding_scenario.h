// Writes a finding as a scenario file that `gauntlet run` replays.
#ifndef GAUNTLET_HARNESS_TRAINER_FINDING_SCENARIO_H_
#define GAUNTLET_HARNESS_TRAINER_FINDING_SCENARIO_H_

#include <string>

#include "chaos/trace/log/operation_log.h"
#include "harness/trainer/run/crash_test_plan.h"
#include "harness/trainer/run/crash_trial.h"
#include "harness/trainer/verdict/crash_findings.h"

namespace gauntlet {

// Returns the text of the file. `trial`: simplest trial of the finding.
// `number`: number of the finding, from 1.
std::string ScenarioOfFinding(const CrashTestPlan& plan,
                              const OperationLog& log,
                              const TrainerFinding& finding,
                              const CrashTrial& trial, size_t number);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_TRAINER_FINDING_SCENARIO_H_
