#include "harness/trainer/trainer_case.h"

#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace gauntlet {
namespace {

CrashPlace PlaceOf(const TrainerFault& fault, size_t index) {
  CrashPlace place{
      .name = fmt::format("trainer.faults[{}]", index),
      .fault = CrashFaultOfName(fault.kind).value_or(CrashFault::kKill),
      .at = {.path = fault.file, .occurrence = fault.occurrence}};
  if (!fault.operation.empty())
    place.at.kind = ParseOperationKind(fault.operation);
  if (fault.rank) place.at.rank = static_cast<int32_t>(*fault.rank);
  if (!fault.profile.empty()) {
    place.profile = fault.profile == "weak" ? DurabilityProfile::kWeak
                                            : DurabilityProfile::kExt4;
  }
  return place;
}

}  // namespace

Result<CrashTestPlan> PlanOfTrainer(const TrainerSetup& setup) {
  CrashTestPlan plan{.command = setup.command,
                     .resume_command = setup.resume,
                     .results = setup.results,
                     .checkpoints = setup.checkpoints,
                     .result_command = setup.result_command,
                     .time = std::nullopt,
                     .trial_limit = setup.trial_limit,
                     .grace = setup.grace,
                     .pause = setup.pause,
                     .network = setup.has_shared_network
                                    ? NetworkAccess::kShared
                                    : NetworkAccess::kPrivate};
  if (!setup.step_pattern.empty()) {
    Result<StepPattern> pattern = StepPattern::Parse(setup.step_pattern);
    if (!pattern.ok()) return Annotate(pattern.status(), "trainer.step_regex");
    plan.resumed_step = std::move(*pattern);
  }
  for (size_t i = 0; i < setup.faults.size(); ++i)
    plan.places.push_back(PlaceOf(setup.faults[i], i));
  return plan;
}

Verdict VerdictOnTrainer(const CrashTestResult& result) {
  Verdict verdict{.kind = VerdictKind::kPass};
  std::string unknown = result.no_verdict;
  for (size_t i = 0; i < result.trials.size(); ++i) {
    const CrashTrial& trial = result.trials[i];
    if (trial.is_for_judging) continue;
    verdict.facts.faults_fired += trial.has_happened ? 1 : 0;
    const bool is_known =
        result.verdicts[i].verdict != RecoveryVerdict::kResumePointUnknown;
    if (!is_known && unknown.empty())
      unknown = trial.point + ": " + result.verdicts[i].reason;
  }
  if (unknown.empty()) unknown = UntriedCrashesText(result);
  if (!unknown.empty()) {
    verdict.kind = VerdictKind::kError;
    verdict.reason = unknown;
  }
  if (result.findings.empty()) return verdict;
  verdict.kind = VerdictKind::kFail;
  verdict.reason = result.findings.front().title;
  for (const TrainerFinding& finding : result.findings) {
    const CrashTrial& trial = result.trials[finding.trials.front()];
    verdict.broken_expectations.push_back(
        {.invariant = std::string(kExpectation),
         .name = std::string(RecoveryVerdictName(finding.verdict)),
         .message =
             fmt::format("the program recovers; found: {}", finding.title)});
    verdict.timeline.push_back(trial.point);
    for (const std::string& line : trial.lost)
      verdict.timeline.push_back("lost: " + line);
  }
  return verdict;
}

std::string AdviceOnTrainer(const CrashTestResult& result,
                            const std::string& folder) {
  const std::string report =
      fmt::format("{}/report.html lists each crash that was tried", folder);
  if (result.findings.empty()) return report;
  return fmt::format(
      "to repeat the first finding, run sh {}/findings/1/repro.sh; {}", folder,
      report);
}

std::string AdviceOnMissingFile(const Status& failed,
                                std::string_view directory) {
  if (failed.message().find("No such file or directory") == std::string::npos) {
    return "";
  }
  return fmt::format(
      "put the file or directory where the program looks for it: relative "
      "paths start in {}, where gauntlet runs, and {{out}} is empty when the "
      "program starts for the first time; or give full paths in "
      "trainer.command",
      directory);
}

}  // namespace gauntlet
