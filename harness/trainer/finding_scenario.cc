#include "harness/trainer/finding_scenario.h"

#include <algorithm>
#include <string_view>

#include "harness/scenario/writer/flow_map.h"
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

FlowMap FaultMap(const OperationLog& log, const CrashTrial& trial) {
  const OperationPattern pattern =
      FilePatterns(log).OfOperation(OwnOperationOf(log, trial));
  FlowMap at;
  at.Add("file", QuotedYaml(pattern.path));
  at.Add("operation", OperationKindName(*pattern.kind));
  at.AddUnless(uint64_t{1}, "occurrence", pattern.occurrence);
  at.AddIf("rank", pattern.rank);
  FlowMap fault;
  fault.Add("do", CrashFaultName(trial.fault));
  if (trial.fault == CrashFault::kPowerLoss)
    fault.Add("profile", trial.id.substr(0, trial.id.find('-')));
  fault.AddMap("at", at);
  return fault;
}

void AddList(std::string_view key, const std::vector<std::string>& texts,
             std::string& text) {
  if (texts.empty()) return;
  text += fmt::format("  {}: {}\n", key, QuotedYamlList(texts));
}

}  // namespace

std::string ScenarioOfFinding(const CrashTestPlan& plan,
                              const OperationLog& log,
                              const TrainerFinding& finding,
                              const CrashTrial& trial, size_t number) {
  const CrashTestPlan base;
  std::string text = fmt::format(
      "# {}\n"
      "schema: gauntlet/v2\n"
      "name: finding-{}-{}\n"
      "trainer:\n"
      "  command: {}\n",
      finding.title, number, RecoveryVerdictName(finding.verdict),
      QuotedYamlList(plan.command));
  AddList("resume", plan.resume_command, text);
  AddList("result", plan.results, text);
  AddList("checkpoint", plan.checkpoints, text);
  if (!plan.result_command.empty()) {
    text +=
        fmt::format("  result_command: {}\n", QuotedYaml(plan.result_command));
  }
  if (plan.resumed_step) {
    text += fmt::format("  step_regex: {}\n",
                        QuotedYaml(plan.resumed_step->text()));
  }
  if (plan.network == NetworkAccess::kShared) text += "  network: shared\n";
  if (plan.grace != base.grace)
    text += fmt::format("  grace: {}\n", DurationToText(plan.grace));
  if (plan.pause != base.pause)
    text += fmt::format("  pause: {}\n", DurationToText(plan.pause));
  if (plan.trial_limit > Duration::zero())
    text +=
        fmt::format("  trial_limit: {}\n", DurationToText(plan.trial_limit));
  text += fmt::format("  faults:\n    - {}\n", FaultMap(log, trial).Text());
  return text + "expect: {outcome: recovers}\n";
}

}  // namespace gauntlet
