#include "harness/run/failure/failure_summary.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/text/counted.h"
#include "harness/oracle/history/last_words.h"
#include "harness/oracle/history/outline.h"
#include "harness/record/base_name.h"
#include "harness/record/checkpoint_loss.h"
#include "harness/record/invariants.h"
#include "harness/record/power_cut.h"
#include "harness/record/text/joined_texts.h"
#include "harness/record/text/value_text.h"
#include "harness/run/failure/advice.h"
#include "harness/run/failure/history/cut_save.h"
#include "harness/run/failure/history/interruptions.h"
#include "harness/run/failure/history/worker_events.h"
#include "harness/run/failure/limits/killed_in_grace.h"
#include "harness/run/failure/limits/late_detection.h"
#include "harness/run/failure/loss_differences.h"
#include "harness/run/failure/lost_checkpoints.h"
#include "harness/run/failure/old_resume.h"
#include "harness/run/failure/recovery_text.h"
#include "harness/run/failure/uncaught_bug.h"
#include "harness/run/failure/unmet_expectations.h"
#include "harness/run/failure/unmet_outcome.h"
#include "harness/run/failure/violated_checks.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

constexpr size_t kMostFaults = 4;

// If the fault caused a power loss, returns "; all hosts lose power, …" with
// the processes that the power loss ended; else "".
std::string ExtentOf(const Record& record, const FaultOccurrence& occurrence) {
  if (!occurrence.traits.cuts_power) return "";
  for (const RecordEvent& event : record.machine) {
    if (event.kind != RecordKind::kPowerCut ||
        event.t_ns < occurrence.event().t_ns) {
      continue;
    }
    return "; " + PowerCutText(record, event);
  }
  return "";
}

std::string FaultsText(const Outline& outline) {
  std::vector<std::string> texts;
  std::set<std::string_view> listed;
  for (const FaultOccurrence& occurrence : outline.occurrences) {
    if (!listed.insert(occurrence.fault->id).second) continue;
    if (texts.size() == kMostFaults) continue;
    texts.push_back(fmt::format("{}: {}{}", occurrence.fault->id,
                                occurrence.fault->summary,
                                ExtentOf(outline.record, occurrence)));
  }
  if (listed.size() > texts.size()) {
    texts.push_back(fmt::format("{} more", listed.size() - texts.size()));
  }
  if (texts.empty()) {
    return outline.record.faults.empty() ? "none are planned" : "none fired";
  }
  return JoinedTexts(std::move(texts));
}

// Returns "with the planted bug lose-position"; "" if no bug is planted.
std::string PlantedBugsText(const Record& record) {
  const std::vector<std::string>& bugs = record.setup.planted_bugs;
  return bugs.empty()
             ? ""
             : fmt::format("with the planted bug{} {}",
                           bugs.size() == 1 ? "" : "s", fmt::join(bugs, ", "));
}

// Returns "…-00003.safetensors of step-000000020-g1 was damaged by fault rot;
// with the planted bug trust-manifest-blindly, it was loaded without being
// noticed"; "" if no damaged checkpoint was loaded.
std::string DamagedLoadText(const Record& record) {
  const RecordEvent* const resumed = ChangedLoad(record);
  if (resumed == nullptr) return "";
  const std::string damage = DamageText(record, BaseName(resumed->path));
  if (damage.empty()) return "";
  const std::string bugs = PlantedBugsText(record);
  return fmt::format("{}{} was loaded without being noticed", damage,
                     bugs.empty() ? " and" : fmt::format("; {}, it", bugs));
}

// Returns "; the first loss that differs is that of step 41"; "" if none
// differs.
std::string FirstLossText(const LossDifferences& losses) {
  if (losses.first.empty()) return "";
  return fmt::format("; the first loss that differs is that of {}",
                     losses.first.front().place);
}

// Compares the result of a run with the reference run. REQUIRES: the last
// launcher has a result.
std::string FinalText(const Record& record, const CaseResult& result,
                      const std::vector<std::string>& violated) {
  const FinalResult& final = *record.launchers.back().result;
  const uint64_t last = LastStepOf(record);
  const bool is_same = final.digest == record.golden.final_digest;
  const std::string steps =
      final.steps == last ? ""
                          : fmt::format("; it has {}, the reference run {}",
                                        Counted(final.steps, "step"), last);
  if (!is_same || !steps.empty()) {
    return fmt::format("wrong: the final state {} the reference run's{}{}",
                       is_same ? "is" : "differs from", steps,
                       FirstLossText(result.losses));
  }
  if (violated.empty()) {
    return "right: each step and the final state are bitwise identical to the "
           "reference run's";
  }
  return fmt::format(
      "the final state is bitwise identical to the reference run's, but "
      "violations on the way were found by {}{}",
      fmt::join(violated, ", "), FirstLossText(result.losses));
}

// Returns "step 8 of 24 was reached". If the last step was trained, returns the
// reason why the run still did not finish.
std::string ReachedText(const Outline& outline) {
  const Record& record = outline.record;
  uint64_t reached = 0;
  for (const Generation& generation : outline.generations) {
    reached = std::max(reached, generation.last_step);
  }
  const uint64_t last = LastStepOf(record);
  if (reached < last || record.launchers.empty()) {
    return fmt::format("step {} of {} was reached", reached, last);
  }
  const LauncherRun& launcher = record.launchers.back();
  return fmt::format(
      "all {} steps were trained, but {}", last,
      launcher.result
          ? fmt::format("the launcher exited with code {}", launcher.exit_code)
          : "the run ended without a result");
}

std::string TrainingText(const Outline& outline, const CaseResult& result) {
  const Record& record = outline.record;
  if (record.golden.entries.empty() || record.golden.final_digest.empty()) {
    return "";
  }
  std::vector<std::string> violated = ViolatedIn(result.verdict);
  std::erase_if(violated,
                [](const std::string& name) { return !IsOfTraining(name); });
  const bool is_whole =
      IsDone(record) && record.launchers.back().exit_code == 0;
  if (is_whole) return FinalText(record, result, violated);
  return fmt::format(
      "not finished: {}; {}{}", ReachedText(outline),
      violated.empty()
          ? "the steps so far are bitwise identical to the reference run's"
          : "the steps differ from the reference run's",
      FirstLossText(result.losses));
}

// Puts "with the planted bug lose-position, " before the cause of a failure if
// a bug is planted, and either a check found a violation or the run did not end
// by itself. Another failure need not follow from the bug.
std::string WithPlantedBugs(const Record& record, const Verdict& verdict,
                            const std::string& cause) {
  const std::string bugs = PlantedBugsText(record);
  const bool may_follow =
      !ViolatedIn(verdict).empty() || record.ending != RunEnding::kExited;
  if (bugs.empty() || cause.empty() || !may_follow) return cause;
  // The text on a damaged load names the bugs already.
  if (cause.find(bugs) != std::string::npos) return cause;
  return fmt::format("{}, {}", bugs, cause);
}

// Returns the first violation that a planted bug explains; "" if there is none.
std::string FirstViolationWithBug(const Record& record,
                                  const Verdict& verdict) {
  if (record.setup.planted_bugs.empty()) return "";
  for (const InvariantReport& report : verdict.invariants) {
    if (report.invariant != InvariantName(Invariant::kFaultFired) &&
        !report.findings.empty()) {
      return report.findings.front().message;
    }
  }
  return "";
}

// Explains the kill of a worker at the end of a grace period; "" if there was
// none. Names the save that the kill interrupted, if there is one. Exception:
// if the trainer was told a longer grace period than it got, names the two
// periods instead.
std::string ExplainGrace(const Outline& outline) {
  const std::optional<KilledInGrace> killed = FindKilledInGrace(outline);
  const bool is_told_more =
      killed && outline.record.setup.notice_grace_ns > killed->notice->grace_ns;
  const std::string cut = is_told_more ? "" : ExplainShortGrace(outline);
  return !cut.empty() || !killed ? cut : KilledInGraceText(outline, *killed);
}

// Explains a failure by the ends and restarts of processes.
std::string ExplainEnds(const Outline& outline, const Verdict& verdict) {
  const Record& record = outline.record;
  if (ViolatedIn(verdict).empty()) return ExplainOutcome(outline, verdict);
  if (IsOnlyViolated(verdict, Invariant::kDetection)) {
    return ExplainLateDetection(outline, verdict);
  }
  if (IsOnlyViolated(verdict, Invariant::kGrace)) {
    std::string cut = ExplainGrace(outline);
    if (!cut.empty()) return cut;
  }
  // An outcome may follow from another violation, whose cause is not known
  // here.
  return FirstViolationWithBug(record, verdict);
}

// Explains all unmet expectations if the run passed every check. Otherwise
// returns the first cause that is known.
std::string ExplainUnmet(const Outline& outline, const Verdict& verdict) {
  // If the harness ended the run, the reason for that is the cause.
  if (std::string hang = ExplainHang(outline); !hang.empty()) return hang;
  PartialCause cause = {.text = ExplainOldResume(outline, verdict)};
  if (!cause.text.empty()) {
    if (!verdict.fails_only_expectations) return cause.text;
    cause.expectations = {"recomputed_steps"};
    const bool is_old =
        verdict.facts.resumed_from < outline.record.expect.resumed_from_step;
    if (is_old) cause.expectations.insert("resumed_from");
  }
  if (std::string ends = ExplainEnds(outline, verdict); !ends.empty()) {
    cause.expectations.insert({"outcome", "restarts"});
    cause.has_ends = true;
    cause.text += (cause.text.empty() ? "" : "; ") + ends;
  }
  return ExplainExpectations(outline, verdict, cause);
}

// Returns "worker 1, incarnation 2 (process 4711) outlived the launcher, which
// had exited with code 0"; "" if no left process violates `no-orphans`.
std::string LeftProcessesText(const Record& record, const Verdict& verdict) {
  const std::vector<std::string> violated = ViolatedIn(verdict);
  const bool is_violated =
      std::ranges::find(violated, InvariantName(Invariant::kNoOrphans)) !=
      violated.end();
  if (!is_violated || record.left.processes.empty() ||
      record.launchers.empty()) {
    return "";
  }
  const LauncherRun& last = record.launchers.back();
  const bool was_killed =
      record.ending != RunEnding::kExited || WasKilled(record, last);
  return fmt::format("{} outlived the launcher, which had {}",
                     fmt::join(record.left.processes, ", "),
                     was_killed
                         ? "been killed"
                         : fmt::format("exited with code {}", last.exit_code));
}

// Returns the verdict on a planted bug. If a mutation test failed, its reason
// names the check that did not catch the bug.
std::string PlantedText(const Record& record, const Verdict& verdict) {
  if (record.setup.planted_bugs.empty()) return "";
  if (record.expect.outcome == Outcome::kViolates) return verdict.reason;
  const std::vector<std::string> violated = ViolatedIn(verdict);
  if (violated.empty()) return "no check noticed it";
  const std::string names = fmt::format("{}", fmt::join(violated, ", "));
  return fmt::format(
      "caught by {}; with expect: {{outcome: violates, invariants: [{}]}} the "
      "case passes in this world (--world {}); if both worlds run, they must "
      "also end with the same state",
      names, names, record.world);
}

}  // namespace

void ExplainFailure(const Record& record, CaseResult& result) {
  const Outline outline(record);
  result.losses = CompareLosses(record);
  if (!result.cause.empty()) {
    result.cause += EventsAtDepartureText(outline, result.differences);
  }
  if (std::string damage = DamagedLoadText(record); !damage.empty()) {
    result.cause = result.cause.empty()
                       ? std::move(damage)
                       : fmt::format("{}; {}", damage, result.cause);
  }
  if (result.cause.empty()) {
    LossExplanation lost = ExplainLoss(record, result.verdict);
    result.cause = std::move(lost.cause);
    if (!lost.why_store.empty()) {
      result.consequences.push_back(
          {.invariant = std::string(InvariantName(Invariant::kStore)),
           .why = std::move(lost.why_store)});
    }
    if (!lost.why_refusal.empty()) {
      result.consequences.push_back(
          {.invariant = std::string(InvariantName(Invariant::kCleanRefusal)),
           .why = std::move(lost.why_refusal)});
    }
  }
  if (result.cause.empty() && record.expect.outcome != Outcome::kRefuses) {
    result.cause = ExplainRefusal(record);
  }
  if (result.cause.empty()) {
    result.cause = ExplainUncaughtBug(record, result.verdict);
  }
  if (result.cause.empty()) {
    result.cause = ExplainUnmet(outline, result.verdict);
  }
  if (result.cause.empty()) {
    result.cause = LeftProcessesText(record, result.verdict);
  }
  result.cause =
      ShortDigests(WithPlantedBugs(record, result.verdict, result.cause));
  result.summary = {.faults = FaultsText(outline),
                    .recovery = RecoveryText(outline, result.verdict.facts),
                    .training = TrainingText(outline, result),
                    .next = AdviceOn(outline, result),
                    .planted = PlantedText(record, result.verdict)};
}

}  // namespace gauntlet
