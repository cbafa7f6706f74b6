#include "harness/run/failure/advice.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/text/units.h"
#include "harness/oracle/history/last_words.h"
#include "harness/record/invariants.h"
#include "harness/record/text/gave_up.h"
#include "harness/run/failure/interruptions.h"
#include "harness/run/failure/late_detection.h"
#include "harness/run/failure/met_expectations.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

std::string LimitText(int64_t limit_ns) {
  return DurationToText(Duration(limit_ns));
}

// Returns "crash.yaml:9": the place of the key `expect`.
std::string PlaceOfExpect(const CaseResult& result) {
  return result.expect_line == 0
             ? result.file
             : fmt::format("{}:{}", result.file, result.expect_line);
}

// Returns "gauntlet show RUN/CASE OPTIONS".
std::string ShowCommand(const CaseResult& result, std::string_view options) {
  constexpr std::string_view kReplay = "gauntlet replay ";
  const std::string which = result.replay.starts_with(kReplay)
                                ? result.replay.substr(kReplay.size()) + " "
                                : "";
  return fmt::format("gauntlet show {}{}", which, options);
}

// Returns the change that lets a launcher restart that gave up; "" if none did,
// or if more restarts would not help.
std::string RestartRemedy(const Record& record) {
  const RecordEvent* const gave_up = FindGaveUp(record);
  if (gave_up == nullptr || gave_up->reason != RecordReason::kRestartsUsedUp) {
    return "";
  }
  return record.setup.never_restarts
             ? "set cluster.restart.policy to whole-job or rejoin"
             : fmt::format("raise cluster.restart.max ({})",
                           record.setup.max_restarts);
}

// Returns true iff a save or a claim of the run had no room on its disk. With a
// fault that gives errors, the reason is unknown.
bool HadNoRoom(const Outline& outline) {
  const bool has_errors = std::ranges::any_of(
      outline.occurrences, [](const FaultOccurrence& occurrence) {
        return occurrence.traits.reports_error;
      });
  if (!outline.record.setup.limited_disk || has_errors) return false;
  const std::vector<LifeEvents>& lives = outline.record.lives;
  return std::ranges::any_of(lives, [](const LifeEvents& life) {
    return LeftUnsaved(life) || LeftToStartLater(life) ||
           std::ranges::find(life.events, RecordKind::kSaveFailed,
                             &RecordEvent::kind) != life.events.end();
  });
}

// Returns the change of the scenario after which its job is queued again, or no
// longer is; "" if the run has nothing to do with requeues.
std::string RequeueRemedy(const Outline& outline) {
  const Record& record = outline.record;
  if (record.launchers.empty()) return "";
  const std::optional<FinalResult>& last = record.launchers.back().result;
  if (record.expect.outcome == Outcome::kRecovers && last &&
      last->status == "stopped") {
    return "raise preemption.requeue, so that the job starts again after its "
           "stop";
  }
  const std::vector<Interruption> all = InterruptionsOf(outline);
  const bool is_requeued =
      std::ranges::find(all, Reaction::kStartsLauncher,
                        &Interruption::reaction) != all.end();
  return is_requeued && record.expect.outcome == Outcome::kStopsCleanly
             ? "set preemption.requeue to 0, so that the job does not start "
               "again after its stop"
             : "";
}

// Returns the change of the scenario that removes the cause of the failure; ""
// if none is known.
std::string Remedy(const Outline& outline, const Verdict& verdict) {
  const Record& record = outline.record;
  if (HadNoRoom(outline)) return "raise disk.capacity";
  if (!IsUnmet(verdict, "outcome")) return "";
  if (std::string text = RestartRemedy(record); !text.empty()) return text;
  return RequeueRemedy(outline);
}

std::string AdviceOnExpectations(const Outline& outline,
                                 const CaseResult& result) {
  const std::vector<Finding>& unmet = result.verdict.broken_expectations;
  std::vector<std::string> texts;
  if (const std::string met = MetExpectationsText(unmet); !met.empty()) {
    texts.push_back(fmt::format("if the run was right, {} under expect ({})",
                                met, PlaceOfExpect(result)));
  }
  if (const std::string remedy = Remedy(outline, result.verdict);
      !remedy.empty()) {
    texts.push_back(fmt::format("if the expectation{} right, {}",
                                unmet.size() == 1 ? " is" : "s are", remedy));
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

std::string AdviceOnDetection(const Record& record, const CaseResult& result) {
  const std::optional<WaitLimit> wait = LongestWait(record);
  const std::string look = fmt::format(
      "see what the worker that detected the loss did before ({})",
      ShowCommand(result, wait ? fmt::format("--worker {} --all", wait->worker)
                               : "--all"));
  const std::optional<int64_t> expected = record.expect.detected_in_max_ns;
  if (!expected) {
    return "the engine exceeded its own limits, so look for the cause there: " +
           look;
  }
  if (wait && wait->limit_ns <= *expected) {
    return fmt::format(
        "{} ({}) is shorter than the delay, so look for the cause in the "
        "engine: {}",
        wait->key, LimitText(wait->limit_ns), look);
  }
  if (!wait) {
    return fmt::format(
        "if the delay is right, raise detected_in.max in {}; if the engine "
        "should have detected the loss sooner, {}",
        PlaceOfExpect(result), look);
  }
  return fmt::format(
      "if the delay is right, raise detected_in.max in {} above {} ({}), or "
      "lower that limit; if the engine should have detected the loss sooner, "
      "{}",
      PlaceOfExpect(result), wait->key, LimitText(wait->limit_ns), look);
}

std::string AdviceOnHang(const Record& record, const CaseResult& result) {
  const RunSetup& setup = record.setup;
  const std::string look =
      record.world == "sim"
          ? fmt::format(
                "the finding of no-hang lists what each process waited for, "
                "and `{}` what it did before",
                ShowCommand(result, "--all"))
          : fmt::format("see the last events of each worker ({})",
                        ShowCommand(result, "--all"));
  const bool is_deadlock =
      record.ending == RunEnding::kHung && record.world == "sim";
  const bool is_total = record.ending == RunEnding::kTimedOut;
  const std::string_view key = is_total ? "timeout.total" : "timeout.hang";
  const int64_t limit_ns =
      is_total ? setup.longest_run_ns : setup.longest_silence_ns;
  if (!is_deadlock && limit_ns > 0 && setup.step_timeout_ns >= limit_ns) {
    return fmt::format(
        "if the workers may wait that long, raise {} ({}) above "
        "cluster.step_timeout ({}), or lower the latter; if the engine should "
        "have ended the run sooner, {}",
        key, LimitText(limit_ns), LimitText(setup.step_timeout_ns), look);
  }
  return fmt::format(
      "the engine should end such a wait by itself (cluster.step_timeout is "
      "{}), so look for the cause there: {}{}",
      LimitText(setup.step_timeout_ns), look,
      is_total ? fmt::format("; if the run still made progress, raise {} ({})",
                             key, LimitText(limit_ns))
               : "");
}

// Returns true iff that check is the only one with violations.
bool IsOnlyViolated(const Verdict& verdict, Invariant invariant) {
  bool is_violated = false;
  for (const InvariantReport& report : verdict.invariants) {
    if (report.violations == 0) continue;
    if (report.invariant != InvariantName(invariant)) return false;
    is_violated = true;
  }
  return is_violated;
}

}  // namespace

std::string AdviceOn(const Outline& outline, const CaseResult& result) {
  const Record& record = outline.record;
  if (HasOnlyUnmetExpectations(result.verdict)) {
    return AdviceOnExpectations(outline, result);
  }
  if (!record.setup.planted_bugs.empty()) return "";
  if (record.ending != RunEnding::kExited) return AdviceOnHang(record, result);
  return IsOnlyViolated(result.verdict, Invariant::kDetection)
             ? AdviceOnDetection(record, result)
             : "";
}

}  // namespace gauntlet
