#include "harness/trainer/trainer_case.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/text/counted.h"
#include "harness/trainer/verdict/finding_advice.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

constexpr size_t kMostCauses = 3;  // findings that CauseOnTrainer describes

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

// Returns "lost: write [0, 36) of a" for "write [0, 36) of a: lost", and "lost
// in part: …" for an operation of which some bytes are there.
std::string LostLine(std::string_view line) {
  constexpr std::string_view kLost = ": lost";
  if (line.ends_with(kLost)) {
    line.remove_suffix(kLost.size());
    return fmt::format("lost: {}", line);
  }
  return line.starts_with("and ") ? std::string(line)
                                  : fmt::format("lost in part: {}", line);
}

// Returns the number of the scenario's faults for which a crash was tried.
size_t CountPlaces(const CrashTestResult& result) {
  std::set<size_t> places;
  for (const CrashTrial& trial : result.trials) {
    if (trial.place) places.insert(*trial.place);
  }
  return places.size();
}

// Returns the line on a crash and its effect. The line names the verdict if
// there are several findings, and also the fault and the reason if the scenario
// has several faults.
std::string CrashLine(const CrashTestResult& result, size_t index) {
  const CrashTrial& trial = result.trials[index];
  const CrashVerdict& verdict = result.verdicts[index];
  const bool names_fault = trial.place && CountPlaces(result) > 1;
  if (names_fault && !trial.has_happened) {
    return fmt::format("trainer.faults[{}] did not fire: {}; {}", *trial.place,
                       trial.point, verdict.reason);
  }
  if (names_fault) {
    return fmt::format("trainer.faults[{}]: {}: {}; {}", *trial.place,
                       RecoveryVerdictName(verdict.verdict), trial.point,
                       verdict.reason);
  }
  if (result.findings.size() == 1) return trial.point;
  return fmt::format("{}: {}", RecoveryVerdictName(verdict.verdict),
                     trial.point);
}

// Returns lines on the crashes and their effects. For each finding and each
// fault of the scenario, they describe the simplest crash. For each other
// fault, they describe its first crash. REQUIRES: there is a finding.
std::vector<std::string> EffectLines(const CrashTestResult& result) {
  std::vector<std::string> lines;
  std::set<size_t> shown;  // faults
  const auto add = [&](size_t index) {
    const CrashTrial& trial = result.trials[index];
    if (trial.place) shown.insert(*trial.place);
    lines.push_back(CrashLine(result, index));
    for (const std::string& line : trial.lost) lines.push_back(LostLine(line));
  };
  for (const TrainerFinding& finding : result.findings) {
    std::set<std::optional<size_t>> of_finding;
    for (const size_t i : finding.trials) {
      if (of_finding.insert(result.trials[i].place).second) add(i);
    }
  }
  for (size_t i = 0; i < result.trials.size(); ++i) {
    const CrashTrial& trial = result.trials[i];
    if (!trial.is_for_judging && trial.place && !shown.contains(*trial.place))
      add(i);
  }
  if (std::string untried = UntriedCrashesText(result); !untried.empty())
    lines.push_back(std::move(untried));
  return lines;
}

// Returns the reason of the finding, and the files written in place that the
// crash left unfinished.
std::string ReasonText(const TrainerFinding& finding,
                       const std::vector<CrashTrial>& trials) {
  const std::string in_place = WrittenInPlaceText(finding, trials);
  return in_place.empty()
             ? finding.reason
             : fmt::format("{}; {}, so the crash left incomplete data",
                           finding.reason, in_place);
}

uint64_t CountTried(const CrashTestResult& result) {
  return static_cast<uint64_t>(
      std::ranges::count(result.trials, false, &CrashTrial::is_for_judging));
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
  // One fault may leave many crash states, so faults are counted by their
  // places.
  std::set<size_t> happened;  // faults, as indices of their places
  for (size_t i = 0; i < result.trials.size(); ++i) {
    const CrashTrial& trial = result.trials[i];
    if (trial.is_for_judging) continue;
    if (trial.has_happened && trial.place) happened.insert(*trial.place);
    const bool is_known =
        result.verdicts[i].verdict != RecoveryVerdict::kResumePointUnknown;
    if (!is_known && unknown.empty())
      unknown = trial.point + ": " + result.verdicts[i].reason;
  }
  verdict.facts.faults_fired = happened.size();
  if (unknown.empty()) unknown = UntriedCrashesText(result);
  if (!unknown.empty()) {
    verdict.kind = VerdictKind::kError;
    verdict.reason = unknown;
  }
  if (result.findings.empty()) return verdict;
  verdict.kind = VerdictKind::kFail;
  verdict.reason = result.findings.front().title;
  for (const TrainerFinding& finding : result.findings) {
    verdict.broken_expectations.push_back(
        {.invariant = std::string(kExpectation),
         .name = std::string(RecoveryVerdictName(finding.verdict)),
         .message =
             fmt::format("the program recovers; found: {}", finding.title)});
  }
  verdict.timeline = EffectLines(result);
  return verdict;
}

std::string CauseOnTrainer(const CrashTestResult& result) {
  if (result.findings.empty()) return "";
  if (result.findings.size() == 1)
    return ReasonText(result.findings.front(), result.trials);
  std::vector<std::string> parts;
  for (const TrainerFinding& finding : result.findings) {
    if (parts.size() == kMostCauses) {
      parts.push_back(
          Counted(result.findings.size() - kMostCauses, "more finding"));
      break;
    }
    parts.push_back(fmt::format(
        "{} ({} of {}): {}", RecoveryVerdictName(finding.verdict),
        finding.trials.size(), Counted(CountTried(result), "crash state"),
        ReasonText(finding, result.trials)));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string AdviceOnTrainer(const CrashTestResult& result,
                            const std::string& folder) {
  const std::string report =
      fmt::format("{}/report.html lists each crash that was tried", folder);
  if (result.findings.empty()) return report;
  std::vector<std::string> parts;
  for (const TrainerFinding& finding : result.findings) {
    const std::string advice =
        AdviceOnFinding(finding, result.trials, result.logs);
    const bool is_new =
        !advice.empty() && std::ranges::find(parts, advice) == parts.end();
    if (is_new) parts.push_back(advice);
  }
  parts.push_back(fmt::format(
      "to repeat the first finding, run sh {}/findings/1/repro.sh", folder));
  parts.push_back(report);
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string AdviceOnStartError(const Status& failed,
                               std::string_view directory) {
  const auto has = [&failed](std::string_view text) {
    return failed.message().find(text) != std::string::npos;
  };
  if (has(": command not found in PATH") ||
      has(": exec: No such file or directory")) {
    return fmt::format(
        "in trainer.command, name a program that exists: a bare name is "
        "looked up in PATH, a relative path starts in {}, where gauntlet runs, "
        "and the interpreter of a script (#!) must exist too",
        directory);
  }
  if (has(": exec: Permission denied")) {
    return "make the program executable (chmod +x), or name its interpreter "
           "before it in trainer.command";
  }
  if (!has("No such file or directory")) return "";
  return fmt::format(
      "put the file or directory where the program looks for it: relative "
      "paths start in {}, where gauntlet runs, and {{out}} is empty when the "
      "program starts for the first time; or give full paths in "
      "trainer.command",
      directory);
}

}  // namespace gauntlet
