#include "harness/run/failure/advice.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/text/units.h"
#include "harness/oracle/history/last_words.h"
#include "harness/record/fault_traits.h"
#include "harness/record/invariants.h"
#include "harness/record/text/joined_texts.h"
#include "harness/record/text/named_faults.h"
#include "harness/run/failure/history/added_delays.h"
#include "harness/run/failure/history/cut_save.h"
#include "harness/run/failure/history/interruptions.h"
#include "harness/run/failure/history/step_pace.h"
#include "harness/run/failure/history/worker_events.h"
#include "harness/run/failure/limits/killed_in_grace.h"
#include "harness/run/failure/limits/late_detection.h"
#include "harness/run/failure/limits/time_of_giving_up.h"
#include "harness/run/failure/met_expectations.h"
#include "harness/run/failure/remedy/remedies.h"
#include "harness/run/failure/remedy/restart_remedy.h"
#include "harness/run/failure/uncaught_bug.h"
#include "harness/run/failure/violated_checks.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

std::string LimitText(int64_t limit_ns) {
  return DurationToText(Duration(limit_ns));
}

// Returns the first text that is not empty.
std::string FirstKnown(std::initializer_list<std::string> texts) {
  for (const std::string& text : texts) {
    if (!text.empty()) return text;
  }
  return "";
}

// Returns true iff a save or a claim of the run had no room on its disk.
// Returns false if a fault injected errors, because these errors may be the
// reason instead.
bool HadNoRoom(const Outline& outline) {
  const bool has_errors = std::ranges::any_of(
      outline.occurrences, [](const FaultOccurrence& occurrence) {
        return occurrence.traits.reports_error;
      });
  if (!outline.record.setup.limited_disk || has_errors) return false;
  const std::vector<IncarnationEvents>& incarnations =
      outline.record.incarnations;
  return std::ranges::any_of(
      incarnations, [](const IncarnationEvents& incarnation) {
        return LeftUnsaved(incarnation) || LeftToStartLater(incarnation) ||
               std::ranges::find(incarnation.events, RecordKind::kSaveFailed,
                                 &RecordEvent::kind) !=
                   incarnation.events.end();
      });
}

// Returns the change of the scenario that removes the cause of the failure; ""
// if none is known.
std::string Remedy(const Outline& outline, const Verdict& verdict) {
  if (HadNoRoom(outline)) {
    const bool is_to_fail =
        outline.record.expect.outcome == Outcome::kRetryLater;
    if (!is_to_fail) return "raise disk.capacity";
    if (IsUnmet(verdict, "outcome")) return "lower disk.capacity";
  }
  if (!IsUnmet(verdict, "outcome")) return "";
  return FirstKnown(
      {RestartRemedy(outline, verdict), RequeueRemedy(outline, verdict),
       IsDone(outline.record) ? "" : EndlessFaultsRemedy(outline).change});
}

// Returns where to look if no remedy is known.
std::string UnknownRemedy(const Record& record, const CaseResult& result) {
  return fmt::format(
      "the run must change: look in its timeline for the first event that you "
      "do not expect ({}){}",
      CommandToShow(result, "--all"),
      record.world == "real" ? ", and in the logs of its workers" : "");
}

// Returns the advice on a scenario whose outcome and exit code no run can have
// together; "" for other scenarios.
std::string AdviceOnExitCode(const Expectation& expect,
                             const CaseResult& result) {
  const std::optional<int> code = ExitCodeAfter(expect.outcome);
  if (!expect.exit_code || !code || *expect.exit_code == *code) return "";
  return fmt::format(
      "set exit_code ({}) to {}, the exit code of {}, or change the outcome "
      "under expect ({})",
      *expect.exit_code, *code, OutcomeName(expect.outcome),
      PlaceOfExpect(result));
}

// Returns the advice on a scenario that expects a restart of a run without
// restarts; "" for other scenarios.
std::string AdviceOnCompletion(const Expectation& expect,
                               const CaseResult& result) {
  if (expect.outcome != Outcome::kCompletes ||
      expect.restarts_exactly.value_or(0) == 0) {
    return "";
  }
  return fmt::format(
      "{} under expect ({}), as a run that completes after a restart recovers",
      result.verdict.facts.restarts > 0
          ? "set outcome: recovers"
          : fmt::format("remove restarts: {{exactly: {}}}",
                        *expect.restarts_exactly),
      PlaceOfExpect(result));
}

std::string AdviceOnExpectations(const Outline& outline,
                                 const CaseResult& result) {
  const Expectation& expect = outline.record.expect;
  if (std::string text = FirstKnown({AdviceOnExitCode(expect, result),
                                     AdviceOnCompletion(expect, result)});
      !text.empty()) {
    return text;
  }
  const std::vector<Finding>& unmet = result.verdict.broken_expectations;
  std::vector<std::string> texts;
  if (const std::string met =
          MetExpectationsText(outline.record, result.verdict);
      !met.empty()) {
    texts.push_back(fmt::format("if the run was right, {} under expect ({})",
                                met, PlaceOfExpect(result)));
  }
  texts.push_back(fmt::format(
      "if the expectation{} right, {}", unmet.size() == 1 ? " is" : "s are",
      FirstKnown({Remedy(outline, result.verdict),
                  RemedyForUnmet(outline, result.verdict),
                  UnknownRemedy(outline.record, result)})));
  return JoinedTexts(std::move(texts));
}

// Returns "--worker 0 --all" for the events of the process that waited.
std::string OptionsOfWait(const WaitLimit& wait) {
  return wait.is_of_launcher() ? "--worker launcher --all"
                               : fmt::format("--worker {} --all", wait.worker);
}

std::string AdviceOnDetection(const Record& record, const CaseResult& result) {
  const std::optional<WaitLimit> wait = LongestWait(record);
  const std::string look =
      fmt::format("see what {} did before ({})", DetectorText(record),
                  CommandToShow(result, wait ? OptionsOfWait(*wait) : "--all"));
  const std::optional<int64_t> expected = record.expect.detected_in_max_ns;
  if (!expected) {
    return "the engine exceeded its own limits, so look for the cause there: " +
           look;
  }
  if (wait && wait->total_ns() < *expected) {
    return fmt::format(
        "{} is shorter than the delay, so look for the cause in the engine: {}",
        LimitNameText(*wait), look);
  }
  if (!wait) {
    return fmt::format(
        "if the delay is right, raise detected_in.max in {}; if the engine "
        "should have detected the loss sooner, {}",
        PlaceOfExpect(result), look);
  }
  return fmt::format(
      "if the delay is right, raise detected_in.max in {} above {}, or lower "
      "{} below detected_in.max ({}); if the engine should have detected the "
      "loss sooner, {}",
      PlaceOfExpect(result), LimitNameText(*wait),
      wait->added_ns > 0 ? "both so that the sum is" : wait->key,
      LimitText(*expected), look);
}

// Returns the time from the last event of any worker to the end of a run that
// used up its time.
int64_t LastWaitOf(const Record& record) {
  int64_t first_ns = INT64_MAX;
  int64_t last_ns = INT64_MIN;
  ForEachEvent(record, [&](const RecordEvent& event) {
    first_ns = std::min(first_ns, event.t_ns);
    last_ns = std::max(last_ns, event.t_ns);
  });
  for (const LauncherRun& run : record.launchers) {
    if (!run.events.empty()) {
      first_ns = std::min(first_ns, run.events.front().t_ns);
    }
  }
  const int64_t limit_ns = record.setup.longest_run_ns;
  if (first_ns > last_ns) return limit_ns;
  return std::max<int64_t>(0, limit_ns - (last_ns - first_ns));
}

// Returns "raise timeout.total (50s), or lower preemption.requeue, as the
// launcher was started again 3 times"; "" if it was not started again.
std::string MoreTimeForRequeues(const Outline& outline) {
  const std::vector<Interruption> all = InterruptionsOf(outline);
  const auto requeues = std::ranges::count(all, Reaction::kStartsLauncher,
                                           &Interruption::reaction);
  if (requeues == 0) return "";
  return fmt::format(
      "raise timeout.total ({}), or lower preemption.requeue, as the launcher "
      "was started again {} time{}",
      LimitText(outline.record.setup.longest_run_ns), requeues,
      requeues == 1 ? "" : "s");
}

// Returns the advice on a run that used up its time because its launcher was
// started again; "" if the launcher was not started again.
std::string AdviceOnRequeues(const Outline& outline) {
  const std::string more = MoreTimeForRequeues(outline);
  if (more.empty()) return "";
  const std::string limit = EndlessFaultsRemedy(outline).change;
  return more + (limit.empty() ? "" : "; or " + limit);
}

// Returns "or, if the launcher is to give up, set outcome: fails under expect
// (FILE) and timeout.total (40s) to 43s or more: …" for a run that timed out
// although each attempt ended. Returns "" if the launcher would have given up
// only after more than ten times the limit, or if the time of giving up is not
// known.
std::string OrLetItGiveUp(const Outline& outline, const CaseResult& result) {
  constexpr int64_t kSecond = 1'000'000'000;
  constexpr int64_t kMostTimes = 10;
  const RunSetup& setup = outline.record.setup;
  const std::optional<int64_t> end_ns =
      TimeOfGivingUp(outline.record, InterruptionsOf(outline));
  if (!end_ns || *end_ns / kMostTimes > setup.longest_run_ns) return "";
  const auto rounded_up = [](int64_t ns) {
    return LimitText((ns + kSecond - 1) / kSecond * kSecond);
  };
  // Adds a twentieth, because no two attempts take the same time.
  const int64_t needed_ns =
      std::max(*end_ns / 20 * 21, setup.longest_run_ns + kSecond);
  return fmt::format(
      "or, if the launcher is to give up, set outcome: {} under expect ({}) "
      "and timeout.total ({}) to {} or more: it gives up when the attempt "
      "after "
      "restart {} (cluster.restart.max) has ended, after about {}",
      OutcomeName(Outcome::kGivesUp), PlaceOfExpect(result),
      LimitText(setup.longest_run_ns), rounded_up(needed_ns),
      setup.max_restarts, rounded_up(*end_ns));
}

// Returns the advice on a run that used up its time because one fault ended
// each of its attempts; "" for other runs.
std::string AdviceOnEndlessFault(const Outline& outline,
                                 const CaseResult& result) {
  const Record& record = outline.record;
  if (record.ending != RunEnding::kTimedOut) return "";
  const auto [limit, clause] = EndlessFaultsRemedy(outline);
  if (limit.empty()) return "";
  if (record.expect.outcome == Outcome::kGivesUp) {
    return fmt::format(
        "raise timeout.total ({}), or lower cluster.restart.max ({}), so that "
        "the launcher gives up in time",
        LimitText(record.setup.longest_run_ns), record.setup.max_restarts);
  }
  const bool is_to_try_later =
      record.expect.outcome == Outcome::kRetryLater &&
      std::ranges::any_of(record.incarnations, LeftUnsaved);
  if (is_to_try_later) {
    return FirstKnown({MoreTimeForRequeues(outline),
                       fmt::format("raise timeout.total ({})",
                                   LimitText(record.setup.longest_run_ns))});
  }
  const std::string give_up = OrLetItGiveUp(outline, result);
  const std::vector<Interruption> all = InterruptionsOf(outline);
  const bool makes_progress = all.size() > 1 && !LacksProgress(record, all);
  return give_up.empty()
             ? fmt::format("{}: {} each attempt{}", limit, clause,
                           makes_progress ? "" : ", so more time does not help")
             : fmt::format("{}, as {} each attempt; {}", limit, clause,
                           give_up);
}

// Returns the time, rounded up to a multiple of 10 s.
int64_t RoundedUp(int64_t ns) {
  constexpr int64_t kRoundTo = 10'000'000'000;
  return (ns + kRoundTo - 1) / kRoundTo * kRoundTo;
}

// Returns the advice on a run whose steps do not fit into its time; "" for
// other runs.
std::string AdviceOnPace(const Outline& outline) {
  const std::optional<StepPace> pace = PaceOfTimedOutRun(outline);
  if (!pace) return "";
  // Adds a twentieth for the last saves and the end of the run.
  const int64_t needed_ns = pace->NeededNs() / 20 * 21;
  const int64_t total_ns = RoundedUp(needed_ns);
  return fmt::format(
      "raise timeout.total ({}) to {} or more: step {} of {} was reached after "
      "{:.3f} s, and each step takes {:.3f} s",
      LimitText(outline.record.setup.longest_run_ns), LimitText(total_ns),
      pace->reached, pace->steps, Seconds(pace->reached_ns),
      Seconds(pace->step_ns));
}

// Returns the advice on a run that used up its time before the engine's own
// limit had passed; "" for other runs.
std::string AdviceOnTotal(const Outline& outline, const KeyedLimit& wait,
                          const std::string& look) {
  const Record& record = outline.record;
  if (record.ending != RunEnding::kTimedOut) return "";
  if (record.setup.longest_run_ns == 0) return "";
  const int64_t waited_ns = LastWaitOf(record);
  if (waited_ns >= wait.limit_ns) return "";
  if (std::string text = AdviceOnRequeues(outline); !text.empty()) return text;
  if (std::string text = AdviceOnPace(outline); !text.empty()) return text;
  if (wait.limit_ns >= record.setup.longest_run_ns) return "";
  return fmt::format(
      "raise timeout.total ({}): the last event of a worker came {:.3f} s "
      "before the end of the run, but the engine ends such a wait only after "
      "{} ({}). If it should have ended sooner, {}",
      LimitText(record.setup.longest_run_ns), Seconds(waited_ns), wait.key,
      LimitText(wait.limit_ns), look);
}

std::string AdviceOnHang(const Outline& outline, const CaseResult& result) {
  const Record& record = outline.record;
  const RunSetup& setup = record.setup;
  const std::string look =
      record.world == "sim"
          ? fmt::format(
                "the finding of no-hang lists what each process waited for, "
                "and `{}` what it did before",
                CommandToShow(result, "--all"))
          : fmt::format("see the last events of each worker ({})",
                        CommandToShow(result, "--all"));
  if (std::string text = AdviceOnEndlessFault(outline, result); !text.empty()) {
    return text;
  }
  const KeyedLimit wait = LimitOfLastWait(outline);
  if (std::string text = AdviceOnTotal(outline, wait, look); !text.empty()) {
    return text;
  }
  const bool is_deadlock =
      record.ending == RunEnding::kHung && record.world == "sim";
  const bool is_total = record.ending == RunEnding::kTimedOut;
  const std::string_view key = is_total ? "timeout.total" : "timeout.hang";
  const int64_t limit_ns =
      is_total ? setup.longest_run_ns : setup.longest_silence_ns;
  if (!is_deadlock && limit_ns > 0 && wait.limit_ns >= limit_ns) {
    // Adds a twentieth for the recovery.
    const int64_t needed_ns =
        (limit_ns - LastWaitOf(record) + wait.limit_ns) / 20 * 21;
    return fmt::format(
        "if the workers may wait that long, raise {} ({}){} above {} ({}), or "
        "lower the latter; if the engine should have ended the run sooner, {}",
        key, LimitText(limit_ns),
        is_total
            ? fmt::format(" to {} or more,", LimitText(RoundedUp(needed_ns)))
            : "",
        wait.key, LimitText(wait.limit_ns), look);
  }
  return fmt::format(
      "the engine should end such a wait by itself ({} is {}), so look for the "
      "cause there: {}",
      wait.key, LimitText(wait.limit_ns), look);
}

// Returns " (the save of step 5 took 15 ms, and fault s adds 3s or more)":
// parts of the duration of the save, as far as they are known; else "".
std::string PartsOfDuration(const Record& record, const ShortGrace& grace,
                            const std::vector<const RecordFault*>& delays) {
  std::vector<std::string> parts;
  if (const std::optional<DoneSave> done =
          LastSaveBefore(record, grace.save.begin_ns)) {
    parts.push_back(
        fmt::format("the save of step {} took {:.0f} ms", done->step,
                    std::ceil(static_cast<double>(done->duration_ns) / 1e6)));
  }
  for (const RecordFault* fault : delays) {
    const int64_t delay_ns = DelayOf(*fault);
    if (delay_ns == 0) continue;
    parts.push_back(fmt::format("fault {} adds {}{}", fault->id,
                                LimitText(delay_ns),
                                fault->fires_once() ? "" : " or more"));
  }
  return parts.empty() ? "" : fmt::format(" ({})", fmt::join(parts, ", and "));
}

// Returns "to 1100ms or more, the time of two steps and a save with its delays,
// rounded up" for a grace period in which workers stop and save although the
// faults delay the save. Returns "above its duration" if the record does not
// show this time.
std::string LongerGrace(const RunSetup& setup, const KilledInGrace& killed,
                        const std::vector<const RecordFault*>& delays) {
  int64_t needed_ns = NeededGrace(setup, killed);
  bool is_known = needed_ns > 0;
  for (const RecordFault* fault : delays) {
    needed_ns += DelayOf(*fault);
    is_known = is_known && DelayOf(*fault) > 0 && fault->fires_once();
  }
  if (!is_known || needed_ns <= killed.notice->grace_ns) {
    return "above its duration";
  }
  return fmt::format("to {} or more, {}", LimitText(needed_ns),
                     NeededGraceText(setup, !delays.empty()));
}

// Returns the unmet expectations that a run may still not meet if its workers
// save and stop in time.
std::vector<std::string_view> UnmetByStop(const Verdict& verdict) {
  constexpr std::array<std::string_view, 3> kMetByStop = {"outcome", "restarts",
                                                          "recomputed_steps"};
  std::vector<std::string_view> names;
  for (const Finding& finding : verdict.broken_expectations) {
    if (std::ranges::find(kMetByStop, finding.name) == kMetByStop.end()) {
      names.push_back(finding.name);
    }
  }
  return names;
}

// Returns the advice on a grace period that was too short; "" if no worker was
// killed at its end.
std::string AdviceOnGrace(const Outline& outline, const CaseResult& result) {
  const RunSetup& setup = outline.record.setup;
  const std::optional<KilledInGrace> killed = FindKilledInGrace(outline);
  const std::optional<ShortGrace> grace = FindShortGrace(outline);
  if (!killed) return "";
  const bool is_told_more = setup.notice_grace_ns > killed->notice->grace_ns;
  const std::vector<const RecordFault*> delays =
      grace ? DelaysOf(outline.record, grace->save, grace->span.until_ns)
            : std::vector<const RecordFault*>();
  const bool is_told_too_much = is_told_more && delays.empty();
  const std::string again = ThenRunAgain(UnmetByStop(result.verdict));
  if (is_told_too_much || !grace) {
    return KilledInGraceRemedy(setup, *killed) + again;
  }
  return fmt::format(
      "if a save may take that long, raise the grace of fault {} ({}) "
      "{}{}{}{}{}; "
      "if the engine should have saved sooner, see what the workers did before "
      "({})",
      grace->notice->id, LimitText(grace->notice->grace_ns),
      LongerGrace(setup, *killed, delays),
      PartsOfDuration(outline.record, *grace, delays),
      delays.empty()
          ? ""
          : fmt::format(", or limit {}, which delayed it", NamedFaults(delays)),
      is_told_more ? fmt::format(", and set preemption.grace ({}) to the same "
                                 "grace",
                                 LimitText(setup.notice_grace_ns))
                   : "",
      again, CommandToShow(result, "--all"));
}

// Returns the advice on processes that were left after the run. Only the
// workers of a real run have logs.
std::string AdviceOnLeftProcesses(const Record& record,
                                  const CaseResult& result) {
  return fmt::format(
      "each process must end with its launcher, so look for the cause in the "
      "engine: see the last events of each worker ({}){}",
      CommandToShow(result, "--all"),
      record.world == "real"
          ? fmt::format(", and the output of the workers in {}/logs",
                        result.directory)
          : "");
}

}  // namespace

std::string CommandToShow(const CaseResult& result, std::string_view options) {
  constexpr std::string_view kReplay = "gauntlet replay ";
  return fmt::format("gauntlet show {} {}",
                     result.replay.starts_with(kReplay)
                         ? result.replay.substr(kReplay.size())
                         : "RUN/CASE",
                     options);
}

std::string AdviceOn(const Outline& outline, const CaseResult& result) {
  const Record& record = outline.record;
  if (HasOnlyUnmetExpectations(result.verdict)) {
    return AdviceOnExpectations(outline, result);
  }
  if (!record.setup.planted_bugs.empty()) {
    return AdviceOnUncaughtBug(record, result);
  }
  if (record.ending != RunEnding::kExited) return AdviceOnHang(outline, result);
  if (IsOnlyViolated(result.verdict, Invariant::kGrace)) {
    return AdviceOnGrace(outline, result);
  }
  if (IsOnlyViolated(result.verdict, Invariant::kNoOrphans) &&
      !record.left.processes.empty()) {
    return AdviceOnLeftProcesses(record, result);
  }
  return IsOnlyViolated(result.verdict, Invariant::kDetection)
             ? AdviceOnDetection(record, result)
             : "";
}

}  // namespace gauntlet
