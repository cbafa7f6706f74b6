#include "harness/run/failure/remedy/remedies.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/text/counted.h"
#include "engine/worker_exit_code.h"
#include "harness/oracle/history/last_words.h"
#include "harness/record/text/joined_texts.h"
#include "harness/record/text/number_list.h"
#include "harness/run/failure/history/causing_faults.h"
#include "harness/run/failure/history/first_sign.h"
#include "harness/run/failure/history/interruptions.h"
#include "harness/run/failure/history/killed_in_grace.h"
#include "harness/run/failure/history/scale_downs.h"
#include "harness/run/failure/history/worker_events.h"
#include "harness/run/failure/remedy/delay_remedy.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

// A run that does not meet an expectation.
struct UnmetRun {
  const Outline& outline;
  const Verdict& verdict;
  std::vector<Interruption> all;

  const Record& record() const { return outline.record; }
  const RunFacts& facts() const { return verdict.facts; }
};

// The interruptions that one fault caused.
struct CausedInterruptions {
  const RecordFault* fault = nullptr;
  const Interruption* first = nullptr;
  std::set<uint64_t> attempts = {};
};

// Returns the faults that caused interruptions after the first `permitted`
// ones, each with these interruptions.
std::vector<CausedInterruptions> CausedAfter(
    const Record& record, const std::vector<Interruption>& all,
    uint64_t permitted) {
  std::vector<CausedInterruptions> found;
  for (const RecordFault& fault : record.faults) {
    CausedInterruptions caused = {.fault = &fault};
    for (size_t i = permitted; i < all.size(); ++i) {
      if (!all[i].faults.contains(&fault)) continue;
      if (caused.first == nullptr) caused.first = &all[i];
      caused.attempts.insert(all[i].attempt);
    }
    if (caused.first != nullptr) found.push_back(std::move(caused));
  }
  return found;
}

// Returns "fault c, which ended attempt 1".
std::string CausingFaultText(const CausedInterruptions& caused) {
  return fmt::format("fault {}, which {} {}", caused.fault->id,
                     caused.first->are_certain ? "ended" : "may have ended",
                     NumberedText("attempt", caused.attempts));
}

// Returns the change of a fault that only delays; "" for other faults.
std::string DelayRemedy(const Record& record,
                        const CausedInterruptions& caused) {
  if (TraitsOf(*caused.fault).EndsProcesses()) return "";
  return ShorterDelay(
      record, *caused.fault,
      FindFirstSign(record, caused.first->from_ns, caused.first->end_ns));
}

// Returns the first fault that ended an attempt; null if the record shows none.
const RecordFault* FirstEndingFault(const UnmetRun& run) {
  for (const Interruption& one : run.all) {
    if (!one.faults.empty()) return *one.faults.begin();
  }
  return nullptr;
}

// Returns the change after which the run is interrupted once more.
std::string OneMoreEnd(const UnmetRun& run) {
  for (const FaultOccurrence& occurrence : run.outline.occurrences) {
    const bool only_delays = occurrence.traits.may_end_incarnation &&
                             !occurrence.traits.EndsProcesses();
    if (!only_delays) continue;
    std::string longer = LongerDelay(run.record().setup, *occurrence.fault);
    if (!longer.empty()) return longer;
  }
  return run.all.empty() ? "add a fault that ends a worker (do: crash)"
                         : fmt::format(
                               "add a fault that ends a worker (do: crash) in "
                               "incarnation {}",
                               run.all.size() + 1);
}

// Returns the change after which the run has no more than `permitted` restarts:
// FewerInterruptions or, if that is "", fewer planned launches.
std::string FewerRestarts(const UnmetRun& run, uint64_t permitted) {
  std::string text = FewerInterruptions(run.outline, permitted);
  const size_t starts = run.record().launchers.size();
  const bool has_planned = starts > run.facts().requeues + 1;
  if (!text.empty() || !has_planned) return text;
  return "list fewer launches, as each start after the first is a restart";
}

// Returns the ids of the faults that damaged stored data: "rot and flip".
std::string DamagingFaults(const Outline& outline) {
  std::set<std::string_view> ids;
  for (const FaultOccurrence& occurrence : outline.occurrences) {
    if (occurrence.traits.damages_store) ids.insert(occurrence.fault->id);
  }
  return fmt::format("{}", fmt::join(ids, " and "));
}

bool HasNotice(const Outline& outline) {
  return std::ranges::any_of(outline.occurrences,
                             [](const FaultOccurrence& occurrence) {
                               return occurrence.traits.gives_notice;
                             });
}

// Returns the change that prevents the end of a run that failed: its refusal to
// train, the kill of a worker in its grace period, or the interruptions after
// the first `permitted` ones. Returns "" if none is known.
std::string RemedyForEnd(const UnmetRun& run, uint64_t permitted) {
  const Record& record = run.record();
  if (HasRefused(record)) {
    const int code = record.launchers.back().exit_code;
    if (IsExit(code, {WorkerExit::kOtherJob})) {
      return "remove the changed settings from launches, as all launches of a "
             "scenario use one checkpoint directory";
    }
    const std::string damaging = DamagingFaults(run.outline);
    if (IsExit(code, {WorkerExit::kNoCheckpoint}) && !damaging.empty()) {
      return fmt::format(
          "remove {}, or let it damage fewer checkpoints, so that one can be "
          "loaded",
          damaging);
    }
    return "";
  }
  if (const std::optional<KilledInGrace> killed =
          FindKilledInGrace(run.outline)) {
    return KilledInGraceRemedy(record.setup, *killed);
  }
  return FewerInterruptions(run.outline, permitted);
}

std::string RemedyForGivingUp(const UnmetRun& run) {
  const RunSetup& setup = run.record().setup;
  if (setup.min_workers > 0 && !ScaleDownTexts(run.record()).empty()) {
    return fmt::format(
        "raise cluster.min_workers ({}) to {}, so that the job does not go on "
        "with fewer workers",
        setup.min_workers, setup.workers);
  }
  const uint64_t restarts = run.facts().restarts - run.facts().requeues;
  if (restarts == 0 || setup.never_restarts) {
    return "let a fault end each attempt (at: {incarnation: any}, with: "
           "{repeat: always})";
  }
  return fmt::format(
      "lower cluster.restart.max ({}) to {}, as the run needs {}",
      setup.max_restarts, restarts - 1, Counted(restarts, "restart"));
}

std::string RemedyForRefusal(const UnmetRun& run) {
  if (run.facts().restarts == 0) {
    return "add a fault that ends a worker (do: crash), as a run that is not "
           "restarted loads no checkpoint";
  }
  return fmt::format(
      "let faults damage every checkpoint before the restart (checkpoint.keep "
      "is {}), as the run resumes from any intact one",
      run.record().setup.keep);
}

std::string RemedyForOutcome(const UnmetRun& run) {
  const Record& record = run.record();
  const bool is_done = IsDone(record);
  switch (record.expect.outcome) {
    case Outcome::kCompletes:
      return is_done ? FewerRestarts(run, 0) : RemedyForEnd(run, 0);
    case Outcome::kRecovers:
      if (is_done) return OneMoreEnd(run);
      return RemedyForEnd(run, run.all.empty() ? 0 : run.all.size() - 1);
    case Outcome::kStopsCleanly:
      if (is_done && !HasNotice(run.outline)) {
        return "add a preemption notice (do: preempt) before the last step";
      }
      return RemedyForEnd(run, 0);
    case Outcome::kGivesUp:
      return is_done ? RemedyForGivingUp(run) : "";
    case Outcome::kRefuses:
      return is_done ? RemedyForRefusal(run) : "";
    case Outcome::kRetryLater:
      return "let each save fail (do: errno at ckpt.shard.open, with: {repeat: "
             "always}), or lower disk.capacity";
    case Outcome::kStopsOnNan:
      return "raise job.optimizer.lr until the loss is not finite";
    case Outcome::kViolates:
      return "";
  }
  return "";
}

std::string RemedyForRestarts(const UnmetRun& run) {
  const Expectation& expect = run.record().expect;
  const uint64_t most = std::min(expect.restarts_exactly.value_or(UINT64_MAX),
                                 expect.restarts_max.value_or(UINT64_MAX));
  return run.facts().restarts > most ? FewerRestarts(run, most)
                                     : OneMoreEnd(run);
}

// Returns "set the step of fault c (6) to 9 or later" or, if its place has no
// step, "move fault c". `to_step`: "9 or later".
std::string MovedFault(const RecordFault& fault, std::string_view to_step) {
  if (!fault.step || fault.in_save)
    return fmt::format("move fault {}", fault.id);
  return fmt::format("set the step of fault {} ({}) to {}", fault.id,
                     *fault.step, to_step);
}

std::string RemedyForResume(const UnmetRun& run) {
  const Record& record = run.record();
  const RunFacts& facts = run.facts();
  if (facts.restarts == 0) return OneMoreEnd(run);
  const bool kept_memory = std::ranges::any_of(
      run.outline.generations,
      [](const Generation& one) { return one.carried_on.has_value(); });
  if (!facts.resumed_from && kept_memory) {
    return "set cluster.restart.policy to whole-job, as a worker that rejoins "
           "loads no checkpoint";
  }
  const uint64_t expected = record.expect.resumed_from_step.value_or(0);
  const uint64_t found = facts.resumed_from.value_or(0);
  const uint64_t interval = record.setup.save_interval_steps;
  const RecordFault* const fault = FirstEndingFault(run);
  if (found < expected && interval > 0 && expected % interval != 0) {
    return fmt::format(
        "change checkpoint.every so that step {} is saved (a save is due after "
        "each {} steps)",
        expected, interval);
  }
  if (fault == nullptr) return "";
  if (found > expected) {
    return fmt::format("{}, so that it comes before the save of step {}",
                       MovedFault(*fault, fmt::format("{} or earlier", found)),
                       found);
  }
  return fmt::format(
      "{}, so that the save of step {} comes before it",
      MovedFault(*fault, fmt::format("{} or later", expected + 1)), expected);
}

std::string RemedyForRecomputedSteps(const UnmetRun& run) {
  const Record& record = run.record();
  if (const std::optional<KilledInGrace> killed =
          FindKilledInGrace(run.outline)) {
    return KilledInGraceRemedy(record.setup, *killed);
  }
  const uint64_t interval = record.setup.save_interval_steps;
  const uint64_t most = record.expect.recomputed_steps_max.value_or(0);
  const RecordFault* const fault = FirstEndingFault(run);
  const std::string move =
      fault == nullptr ? ""
                       : fmt::format("move fault {} to at most {} after a save",
                                     fault->id, Counted(most, "step"));
  if (interval <= 1) return move;
  return fmt::format("lower checkpoint.every ({} steps){}{}", interval,
                     move.empty() ? "" : ", or ", move);
}

std::string RemedyForFailedSaves(const UnmetRun& run) {
  const uint64_t expected =
      run.record().expect.failed_saves_exactly.value_or(0);
  if (run.facts().failed_saves < expected) {
    return "let a fault fail one more save (do: errno at ckpt.shard.open)";
  }
  std::set<std::string_view> ids;
  for (const FaultOccurrence& occurrence : run.outline.occurrences) {
    if (occurrence.traits.reports_error && occurrence.fault->in_save) {
      ids.insert(occurrence.fault->id);
    }
  }
  if (ids.empty()) return "";
  return fmt::format("remove fault{} {}, or let {} fail fewer saves",
                     ids.size() == 1 ? "" : "s", fmt::join(ids, " and "),
                     ids.size() == 1 ? "it" : "them");
}

std::string RemedyForEndsAt(const UnmetRun& run) {
  const Record& record = run.record();
  if (!record.setup.launches.empty()) {
    return "change epochs, max_steps or stop_at_step of the last entry of "
           "launches";
  }
  if (!IsDone(record)) return RemedyForEnd(run, 0);
  return fmt::format("change job.epochs ({})", record.setup.epochs);
}

std::string RemedyForSaves(const UnmetRun& run) {
  const RunSetup& setup = run.record().setup;
  const std::string every =
      setup.save_interval_steps == 0
          ? ""
          : fmt::format(" ({} steps)", setup.save_interval_steps);
  return fmt::format(
      "change checkpoint.every{} or job.epochs ({}), which set when saves are "
      "due",
      every, setup.epochs);
}

std::string RemedyForCheckpoints(const UnmetRun& run) {
  const Record& record = run.record();
  if (record.setup.delete_at_success && IsDone(record)) {
    return "change checkpoint.at_success, which deletes the checkpoints";
  }
  const size_t expected =
      record.expect.checkpoints_left.value_or(std::vector<uint64_t>()).size();
  if (expected > 0 && record.left.checkpoints.size() != expected) {
    return fmt::format("set checkpoint.keep ({}) to {}", record.setup.keep,
                       expected);
  }
  return RemedyForSaves(run);
}

std::string RemedyForEpochsAfterRestart(const UnmetRun& run) {
  if (run.facts().restarts == 0) return OneMoreEnd(run);
  const RecordFault* const fault = FirstEndingFault(run);
  if (fault == nullptr) return "";
  return fmt::format(
      "move fault {} to another epoch, as each epoch that ends after the "
      "restart counts",
      fault->id);
}

std::string RemedyForTrend(const UnmetRun& run) {
  return fmt::format(
      "train longer (job.epochs is {}) or change job.optimizer.lr, as training "
      "without faults gives the same values",
      run.record().setup.epochs);
}

// An expectation, by the name of its finding, and the change that meets it.
struct NamedRemedy {
  std::string_view name;
  std::string (*remedy)(const UnmetRun& run);
};
constexpr std::array kRemedies = {
    NamedRemedy{"outcome", RemedyForOutcome},
    NamedRemedy{"restarts", RemedyForRestarts},
    NamedRemedy{"resumed_from", RemedyForResume},
    NamedRemedy{"recomputed_steps", RemedyForRecomputedSteps},
    NamedRemedy{"failed_saves", RemedyForFailedSaves},
    NamedRemedy{"ends_at.epoch", RemedyForEndsAt},
    NamedRemedy{"ends_at.step", RemedyForEndsAt},
    NamedRemedy{"saves", RemedyForSaves},
    NamedRemedy{"epochs_after_restart", RemedyForEpochsAfterRestart},
    NamedRemedy{"checkpoints", RemedyForCheckpoints},
    NamedRemedy{"loss", RemedyForTrend},
    NamedRemedy{"accuracy", RemedyForTrend},
};

}  // namespace

std::string FewerInterruptions(const Outline& outline, uint64_t permitted) {
  const Record& record = outline.record;
  const std::vector<Interruption> all = InterruptionsOf(outline);
  std::vector<std::string> removed;
  std::vector<std::string> texts;
  for (const CausedInterruptions& caused :
       CausedAfter(record, all, permitted)) {
    if (std::string text = DelayRemedy(record, caused); !text.empty()) {
      texts.push_back(std::move(text));
    } else {
      removed.push_back(CausingFaultText(caused));
    }
  }
  if (!removed.empty()) {
    texts.insert(texts.begin(),
                 fmt::format("remove {}", fmt::join(removed, ", and ")));
  }
  return JoinedTexts(std::move(texts));
}

std::string ShorterDelays(const Outline& outline) {
  const std::vector<Interruption> all = InterruptionsOf(outline);
  std::vector<std::string> texts;
  for (const CausedInterruptions& caused :
       CausedAfter(outline.record, all, 0)) {
    texts.push_back(DelayRemedy(outline.record, caused));
  }
  return JoinedTexts(std::move(texts));
}

std::string RemedyForUnmet(const Outline& outline, const Verdict& verdict) {
  const UnmetRun run = {
      .outline = outline, .verdict = verdict, .all = InterruptionsOf(outline)};
  std::vector<std::string> texts;
  for (const Finding& finding : verdict.broken_expectations) {
    const auto found =
        std::ranges::find(kRemedies, finding.name, &NamedRemedy::name);
    if (found == kRemedies.end()) continue;
    std::string text = found->remedy(run);
    const bool is_new =
        !text.empty() && std::ranges::find(texts, text) == texts.end();
    if (is_new) texts.push_back(std::move(text));
  }
  return JoinedTexts(std::move(texts));
}

}  // namespace gauntlet
