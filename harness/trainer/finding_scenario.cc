#include "harness/trainer/finding_scenario.h"

#include <algorithm>
#include <string_view>

#include "harness/scenario/trainer_setup.h"
#include "harness/scenario/writer/write_trainer.h"
#include "harness/trainer/file_patterns.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// Returns the number of the last operation, up to that of the crash, that the
// program itself made.
uint64_t OwnOperationOf(const OperationLog& log, const CrashTrial& trial) {
  uint64_t number = std::max<uint64_t>(trial.fault_operation, 1);
  while (number > 1 && !IsOwnCrashPoint(log.operations()[number - 1])) --number;
  return number;
}

TrainerFault FaultOf(const OperationLog& log, const CrashTrial& trial) {
  const OperationPattern pattern =
      FilePatterns(log).OfOperation(OwnOperationOf(log, trial));
  TrainerFault fault{.kind = std::string(CrashFaultName(trial.fault)),
                     .file = pattern.path,
                     .operation = std::string(OperationKindName(*pattern.kind)),
                     .occurrence = pattern.occurrence,
                     .rank = pattern.rank};
  if (trial.fault == CrashFault::kPowerLoss)
    fault.profile = trial.id.substr(0, trial.id.find('-'));
  return fault;
}

TrainerSetup SetupOf(const CrashTestPlan& plan) {
  return {.command = plan.command,
          .resume = plan.resume_command,
          .results = plan.results,
          .checkpoints = plan.checkpoints,
          .result_command = plan.result_command,
          .step_pattern = plan.resumed_step ? plan.resumed_step->text() : "",
          .has_shared_network = plan.network == NetworkAccess::kShared,
          .grace = plan.grace,
          .pause = plan.pause,
          .trial_limit = plan.trial_limit};
}

}  // namespace

std::string ScenarioOfFinding(const CrashTestPlan& plan,
                              const OperationLog& log,
                              const TrainerFinding& finding,
                              const CrashTrial& trial, size_t number) {
  TrainerSetup setup = SetupOf(plan);
  setup.faults.push_back(FaultOf(log, trial));
  return fmt::format(
      "# {}\n"
      "schema: gauntlet/v2\n"
      "name: finding-{}-{}\n"
      "{}"
      "expect: {{outcome: recovers}}\n",
      finding.title, number, RecoveryVerdictName(finding.verdict),
      TrainerToYaml(setup));
}

}  // namespace gauntlet
