#include "harness/run/failure/remedy/restart_remedy.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/text/counted.h"
#include "harness/oracle/history/last_words.h"
#include "harness/record/fault_traits.h"
#include "harness/record/text/gave_up.h"
#include "harness/record/text/named_faults.h"
#include "harness/run/failure/history/endless_faults.h"
#include "harness/run/failure/history/interruptions.h"
#include "harness/run/failure/history/worker_events.h"
#include "harness/run/failure/remedy/permitted_values.h"
#include "harness/run/failure/remedy/remedies.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

// Returns true iff the fault fired in several steps of the training. If a fault
// always ends the attempts in the same step, they never reach the step that
// `until` sets.
bool FiredInSeveralSteps(const Record& record, const RecordFault& fault) {
  std::set<uint64_t> steps;
  ForEachEvent(record, [&](const RecordEvent& event) {
    const bool is_firing = event.kind == RecordKind::kFaultFired ||
                           event.kind == RecordKind::kFaultAgain;
    if (is_firing && event.detail == fault.id) steps.insert(event.step);
  });
  return steps.size() > 1;
}

// Returns "set the repeat of fault c to once" or, if the faults can also end
// with until, "limit fault c (set its repeat to once, or end it with until)".
std::string LimitFaultsText(const Record& record,
                            const std::vector<const RecordFault*>& faults) {
  const bool is_one = faults.size() == 1;
  const bool may_end =
      std::ranges::all_of(faults, [&record](const RecordFault* fault) {
        return FiredInSeveralSteps(record, *fault);
      });
  if (!may_end) {
    const bool have_until = std::ranges::any_of(
        faults,
        [](const RecordFault* fault) { return fault->until_step.has_value(); });
    return fmt::format(
        "set the repeat of {} to once{}", NamedFaults(faults),
        have_until ? fmt::format(", without {} until", is_one ? "its" : "their")
                   : "");
  }
  return fmt::format("limit {} (set {} repeat to once, or end {} with until)",
                     NamedFaults(faults), is_one ? "its" : "their",
                     is_one ? "it" : "them");
}

// Returns "completes" or "recovers", the outcome of the run once the faults are
// limited, if the scenario expects the other one of these two; else "". A run
// that other faults restart, too, still recovers.
std::string_view OutcomeWithout(const Expectation& expect,
                                const std::vector<Interruption>& all,
                                const std::vector<const RecordFault*>& faults) {
  const FaultTraits traits = TraitsOf(*faults.front());
  const bool ends_process = traits.ends_incarnation || traits.fails_device ||
                            traits.cuts_power || traits.kills_launcher;
  const bool has_others =
      std::ranges::any_of(all, [&faults](const Interruption& one) {
        return !one.faults.empty() &&
               std::ranges::none_of(faults, [&one](const RecordFault* fault) {
                 return one.faults.contains(fault);
               });
      });
  if (expect.outcome == Outcome::kRecovers && traits.reports_error &&
      !has_others) {
    return OutcomeName(Outcome::kCompletes);
  }
  if (expect.outcome == Outcome::kCompletes && ends_process) {
    return OutcomeName(Outcome::kRecovers);
  }
  return "";
}

// Returns " and restarts.max (1) under expect to 3" if the scenario permits
// fewer restarts than `needed`; else "".
std::string PermittedRestarts(const Expectation& expect, uint64_t needed) {
  std::string text;
  if (expect.restarts_max.value_or(UINT64_MAX) < needed) {
    text += fmt::format(" and restarts.max ({}) under expect to {}",
                        *expect.restarts_max, needed);
  }
  if (expect.restarts_exactly.value_or(UINT64_MAX) < needed) {
    text += fmt::format(" and restarts.exactly ({}) under expect to {}",
                        *expect.restarts_exactly, needed);
  }
  return text;
}

// Returns "; or " and the text of ShorterDelays; "" if that is empty.
std::string OrShorterDelays(const Outline& outline) {
  const std::string shorter = ShorterDelays(outline);
  return shorter.empty() ? "" : "; or " + shorter;
}

// Returns the change after which the run has one more restart. It begins with
// `change`, which raises a limit of the engine. If the scenario does not permit
// that restart, the text also names the expectation to raise. As an
// alternative, it names the change after which the restart is not needed,
// unless the scenario expects a restart and would then have none.
std::string OneMoreRestart(const Outline& outline, const Verdict& verdict,
                           const std::string& change) {
  const uint64_t restarts = verdict.facts.restarts;
  const std::string also =
      PermittedRestarts(outline.record.expect, restarts + 1);
  if (also.empty()) {
    const bool is_expected =
        outline.record.expect.outcome == Outcome::kRecovers && restarts == 0;
    return is_expected ? change : change + OrShorterDelays(outline);
  }
  const std::string fewer = FewerInterruptions(outline, restarts);
  return fmt::format("{}, and raise{}, as the run needs one restart more{}",
                     change, also.substr(std::string_view(" and").size()),
                     fewer.empty() ? "" : "; or " + fewer);
}

// Returns " (2) to 3" for the present value of preemption.requeue, which the
// run has used up, and a value that is `more` higher; "" if a plan of launches
// hides the present one. Returns nullopt if no such value is permitted.
std::optional<std::string> RequeueValue(const Record& record, uint64_t more) {
  const std::optional<uint64_t> present = UsedUpRequeue(record);
  if (!present) return "";
  if (!IsPermitted("preemption.requeue", *present + more)) return std::nullopt;
  return fmt::format(" ({}) to {}", *present, *present + more);
}

// Returns the advice on a job that the same faults stopped at each start, so
// that it used up preemption.requeue; "" for other runs.
std::string EndlessStopRemedy(const Outline& outline) {
  const Record& record = outline.record;
  const auto [limit, clause] = EndlessFaultsRemedy(outline);
  const size_t starts = record.launchers.size();
  if (limit.empty() || starts < 2 || record.golden.entries.empty()) return "";
  const std::optional<FinalResult>& last = record.launchers[starts - 1].result;
  const std::optional<FinalResult>& before =
      record.launchers[starts - 2].result;
  const uint64_t steps = LastStepOf(record);
  if (!last || !before || last->steps >= steps) return limit;
  const uint64_t left = steps - last->steps;
  const uint64_t trained =
      last->steps > before->steps ? last->steps - before->steps : 0;
  const std::string limited =
      fmt::format("{}, as {} each start", limit, clause);
  if (trained == 0) return limited;
  const std::optional<std::string> requeue =
      RequeueValue(record, (left + trained - 1) / trained);
  if (!requeue) return limited;
  return fmt::format(
      "{}; or raise preemption.requeue{}, as each start trains {}, and {} left",
      limited, *requeue, Counted(trained, "step"),
      left == 1 ? "1 is" : fmt::format("{} are", left));
}

// Returns ", and raise cluster.restart.max (0) to 1" if the launcher permits
// too few restarts even for a run in which each of the EndlessFaults fires
// once; else "".
std::string RestartsOfLimitedFaults(const Outline& outline,
                                    const std::vector<Interruption>& all) {
  const Record& record = outline.record;
  const std::vector<const RecordFault*> faults = EndlessFaults(record, all);
  // A failed save is tried again without a restart.
  if (std::ranges::all_of(faults, [](const RecordFault* fault) {
        return fault->in_save && TraitsOf(*fault).reports_error;
      })) {
    return "";
  }
  if (record.setup.never_restarts) {
    return ", and set cluster.restart.policy to whole-job or rejoin";
  }
  const auto first = std::ranges::find_if(all, [&](const Interruption& one) {
    return std::ranges::any_of(faults, [&one](const RecordFault* fault) {
      return one.faults.contains(fault);
    });
  });
  // One is enough after several starts of the launcher: each start permits all
  // restarts anew.
  const uint64_t needed =
      record.launchers.size() > 1
          ? 1
          : static_cast<uint64_t>(first - all.begin()) + faults.size();
  const auto permitted = static_cast<uint64_t>(record.setup.max_restarts);
  if (permitted >= needed || !IsPermitted("cluster.restart.max", needed)) {
    return "";
  }
  return fmt::format(", and raise cluster.restart.max ({}) to {}{}", permitted,
                     needed, PermittedRestarts(record.expect, needed));
}

// Returns the advice on a launcher that gave up because of EndlessFaults; "" if
// there are none.
std::string EndlessRestartRemedy(const Outline& outline, const Verdict& verdict,
                                 RecordReason reason) {
  const Record& record = outline.record;
  const auto [limit, clause] = EndlessFaultsRemedy(outline);
  if (limit.empty()) return "";
  const std::vector<Interruption> all = InterruptionsOf(outline);
  const std::string text =
      fmt::format("{}{}: {} each attempt", limit,
                  RestartsOfLimitedFaults(outline, all), clause);
  if (LacksProgress(record, all)) {
    return fmt::format("{}, so more restarts do not help{}", text,
                       OrShorterDelays(outline));
  }
  const auto present = static_cast<uint64_t>(record.setup.max_restarts);
  // A run with restarts does not complete.
  const bool may_raise =
      all.size() > 1 && reason == RecordReason::kRestartsUsedUp &&
      record.expect.outcome != Outcome::kCompletes &&
      !record.setup.never_restarts &&
      IsPermitted("cluster.restart.max", present + 1) &&
      PermittedRestarts(record.expect, verdict.facts.restarts + 1).empty();
  return fmt::format(
      "{}{}{}", text,
      may_raise ? fmt::format("; or raise cluster.restart.max ({}) to {} or "
                              "more, as each attempt reaches new steps",
                              present, present + 1)
                : "",
      OrShorterDelays(outline));
}

// Returns "; this meets outcome, but not resumed_from, as …" for a run that
// would end with the first stop if there were no requeue. Returns "" if it
// would then meet resumed_from, or if another event ended the first launcher.
// REQUIRES: there was a launcher.
std::string UnmetResumeText(const Record& record, const Verdict& verdict) {
  const LauncherRun& first = record.launchers.front();
  const bool has_stopped = first.result && first.result->status == "stopped";
  if (!record.expect.resumed_from_step || !record.setup.launches.empty() ||
      !has_stopped || first.events.empty()) {
    return "";
  }
  const int64_t end_ns = first.events.back().t_ns;
  const bool has_resumed =
      FirstOf(record, [end_ns](const RecordEvent& event) {
        return event.kind == RecordKind::kResumed && event.t_ns <= end_ns;
      }) != nullptr;
  constexpr std::string_view kUnmet =
      "; this meets outcome, but not resumed_from, as the job";
  if (!has_resumed) {
    return fmt::format("{} then resumes from no checkpoint", kUnmet);
  }
  return IsUnmet(verdict, "resumed_from") && verdict.facts.resumed_from
             ? fmt::format("{} still resumes from step {}", kUnmet,
                           *verdict.facts.resumed_from)
             : "";
}

}  // namespace

FaultsRemedy EndlessFaultsRemedy(const Outline& outline) {
  const std::vector<Interruption> all = InterruptionsOf(outline);
  const std::vector<const RecordFault*> faults =
      EndlessFaults(outline.record, all);
  if (faults.empty()) return {};
  const Expectation& expect = outline.record.expect;
  std::string text = LimitFaultsText(outline.record, faults);
  if (const std::string_view outcome = OutcomeWithout(expect, all, faults);
      !outcome.empty()) {
    text +=
        fmt::format(" and set outcome: {}, as the run then needs {}", outcome,
                    outcome == OutcomeName(Outcome::kCompletes) ? "no restart"
                                                                : "a restart");
  }
  const bool counts_saves = expect.saves_exactly || expect.checkpoints_left ||
                            expect.failed_saves_exactly;
  if (counts_saves && TraitsOf(*faults.front()).reports_error) {
    text +=
        "; each save that still fails counts in saves, failed_saves and "
        "checkpoints";
  }
  return {.change = std::move(text),
          .clause = faults.size() == 1 ? "it ends" : "one of them ends"};
}

std::string RestartRemedy(const Outline& outline, const Verdict& verdict) {
  const Record& record = outline.record;
  const RecordEvent* const gave_up = FindGaveUp(record);
  if (gave_up == nullptr) return "";
  if (std::string text =
          EndlessRestartRemedy(outline, verdict, gave_up->reason);
      !text.empty()) {
    return text;
  }
  const auto more = static_cast<uint64_t>(record.setup.max_restarts) + 1;
  if (gave_up->reason != RecordReason::kRestartsUsedUp ||
      record.expect.outcome == Outcome::kCompletes ||
      !IsPermitted("cluster.restart.max", more)) {
    return "";
  }
  return OneMoreRestart(
      outline, verdict,
      record.setup.never_restarts
          ? "set cluster.restart.policy to whole-job or rejoin"
          : fmt::format("raise cluster.restart.max ({}) to {} or more",
                        record.setup.max_restarts, more));
}

std::string RequeueRemedy(const Outline& outline, const Verdict& verdict) {
  const Record& record = outline.record;
  if (record.launchers.empty()) return "";
  const LauncherRun& last = record.launchers.back();
  const bool was_killed = WasKilled(record, last);
  const bool has_stopped = last.result && last.result->status == "stopped";
  if (record.expect.outcome == Outcome::kRecovers &&
      (was_killed || has_stopped)) {
    if (std::string text = EndlessStopRemedy(outline); !text.empty()) {
      return text;
    }
    const std::optional<std::string> requeue = RequeueValue(record, 1);
    if (!requeue) return "";
    const std::string advice = OneMoreRestart(
        outline, verdict,
        fmt::format(
            "raise preemption.requeue{}, so that the job starts again after {}",
            *requeue, was_killed ? "its launcher was killed" : "its stop"));
    return was_killed ? advice +
                            "; no outcome in expect describes a run that "
                            "ends with its launcher killed"
                      : advice;
  }
  const std::vector<Interruption> all = InterruptionsOf(outline);
  const bool is_requeued =
      std::ranges::find(all, Reaction::kStartsLauncher,
                        &Interruption::reaction) != all.end();
  if (!is_requeued || record.expect.outcome != Outcome::kStopsCleanly) {
    return "";
  }
  return fmt::format(
      "set preemption.requeue to 0, so that the job does not start again after "
      "its stop{}",
      UnmetResumeText(record, verdict));
}

}  // namespace gauntlet
