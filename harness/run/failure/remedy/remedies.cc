#include "harness/run/failure/remedy/remedies.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/restart_limits.h"
#include "engine/text/counted.h"
#include "engine/text/units.h"
#include "engine/worker_exit_code.h"
#include "engine/world/fault_point.h"
#include "harness/oracle/history/last_words.h"
#include "harness/record/fault_traits.h"
#include "harness/record/text/gave_up.h"
#include "harness/record/text/joined_texts.h"
#include "harness/record/text/named_faults.h"
#include "harness/record/text/number_list.h"
#include "harness/run/failure/history/begun_saves.h"
#include "harness/run/failure/history/causing_faults.h"
#include "harness/run/failure/history/cut_save.h"
#include "harness/run/failure/history/endless_faults.h"
#include "harness/run/failure/history/epoch_ends.h"
#include "harness/run/failure/history/first_sign.h"
#include "harness/run/failure/history/interruptions.h"
#include "harness/run/failure/history/process_ends.h"
#include "harness/run/failure/history/scale_downs.h"
#include "harness/run/failure/history/worker_events.h"
#include "harness/run/failure/limits/killed_in_grace.h"
#include "harness/run/failure/remedy/delay_remedy.h"
#include "harness/run/failure/remedy/end_remedy.h"
#include "harness/run/failure/remedy/fault_step.h"
#include "harness/run/failure/remedy/notice_step.h"
#include "harness/run/failure/remedy/permitted_values.h"
#include "harness/run/failure/remedy/resume_remedy.h"
#include "harness/run/failure/remedy/store_remedy.h"
#include "harness/run/failure/remedy/trend_remedy.h"
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

// Returns the change of the expectations that must accompany a change after
// which the run has no restart; "" if the scenario does not expect one.
std::string OutcomeWithoutRestart(const Record& record) {
  const Expectation& expect = record.expect;
  if (expect.outcome != Outcome::kRecovers) return "";
  std::string removed;
  if (expect.resumed_from_step) removed += ", without resumed_from";
  if (expect.restarts_exactly.value_or(0) > 0) removed += ", without restarts";
  if (expect.epochs_after_restart_exactly.value_or(0) > 0) {
    removed += ", without epochs_after_restart";
  }
  return fmt::format(
      ", and set outcome: completes{}, as the run then needs no restart",
      removed);
}

// Like the public FewerInterruptions, for a run whose interruptions are `all`.
std::string FewerInterruptions(const Record& record,
                               const std::vector<Interruption>& all,
                               uint64_t permitted) {
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

// Returns the first fault that ended an attempt; null if the record shows none.
const RecordFault* FirstEndingFault(const UnmetRun& run) {
  for (const Interruption& one : run.all) {
    if (!one.faults.empty()) return *one.faults.begin();
  }
  return nullptr;
}

// Returns "in incarnation 2" or "in each of incarnations 2 and 3": `number`
// incarnations from `first`.
std::string IncarnationsText(uint64_t first, uint64_t number) {
  if (number == 1) return fmt::format("in incarnation {}", first);
  return fmt::format("in each of incarnations {} {} {}", first,
                     number == 2 ? "and" : "to", first + number - 1);
}

// Returns the change after which `number` more ends of workers come before the
// notice that stopped the run: no incarnation follows that stop. Returns "" if
// no notice stopped the run, or if the scenario does not expect the stop.
std::string EndsBeforeStop(const UnmetRun& run, uint64_t number) {
  if (run.record().expect.outcome != Outcome::kStopsCleanly) return "";
  const RecordFault* const notice = NoticeOfStop(run.outline);
  if (notice == nullptr) return "";
  const uint64_t last = run.all.size();
  return fmt::format(
      "add a fault that ends a worker (do: crash) {}, and let fault {} fire in "
      "incarnation {}",
      IncarnationsText(last, number), notice->id, last + number);
}

// Returns the number of attempts that ended before the last one; if the run is
// not done, includes the last one.
size_t EndedAttempts(const UnmetRun& run) {
  if (!IsDone(run.record())) return run.all.size();
  return static_cast<size_t>(std::ranges::count_if(
      run.all,
      [](const Interruption& one) { return one.reaction != Reaction::kNone; }));
}

// Returns the change that moves a fault, which ended a process only after the
// training, into the training of a run without restarts; "" if there is no such
// fault.
std::string EarlierEnd(const UnmetRun& run) {
  const Record& record = run.record();
  if (!IsDone(record) || EndedAttempts(run) > 0) return "";
  const uint64_t last = record.launchers.back().result->steps;
  const uint64_t step = record.expect.resumed_from_step.value_or(last / 2) + 1;
  for (const FaultOccurrence& occurrence : run.outline.occurrences) {
    const RecordFault& fault = *occurrence.fault;
    const bool came_after =
        StepReachedBy(record, occurrence.event().t_ns) >= last;
    if (!EndsItsProcess(fault) || !came_after || step > last) continue;
    return fmt::format(
        "let fault {} come during the training: set its `at` to {{worker: {}, "
        "step: {}}}{}",
        fault.id, fault.worker, step,
        fault.latency_ns > 0 ? " and remove its latency" : "");
  }
  return "";
}

// Returns the change after which the run has `number` more interruptions.
std::string MoreEnds(const UnmetRun& run, uint64_t number) {
  if (std::string text = EndsBeforeStop(run, number); !text.empty()) {
    return text;
  }
  for (const FaultOccurrence& occurrence : run.outline.occurrences) {
    const bool only_delays = number == 1 &&
                             occurrence.traits.may_end_incarnation &&
                             !occurrence.traits.EndsProcesses();
    if (!only_delays) continue;
    std::string longer = LongerDelay(run.record().setup, *occurrence.fault);
    if (!longer.empty()) return longer;
  }
  const size_t ended = EndedAttempts(run);
  if (number == 1) {
    if (ended == 0 && NoticeWithinGrace(run.record()) != nullptr) {
      return WithoutNoticeGrace(run.record().setup);
    }
    if (std::string text = EarlierEnd(run); !text.empty()) return text;
    if (ended == 0) return "add a fault that ends a worker (do: crash)";
  }
  return fmt::format("add a fault that ends a worker (do: crash) {}",
                     IncarnationsText(ended + 1, number));
}

std::string OneMoreEnd(const UnmetRun& run) { return MoreEnds(run, 1); }

// Appends "; and set outcome: recovers" to the advice if the scenario expects a
// run without restarts (outcome: completes) and this run had none.
std::string WithOutcome(const UnmetRun& run, const std::string& advice) {
  const bool must_change_outcome =
      run.record().expect.outcome == Outcome::kCompletes &&
      run.facts().restarts == 0;
  return advice.empty() || !must_change_outcome
             ? advice
             : advice +
                   "; and set outcome: recovers, as only a run without "
                   "restarts completes";
}

// Returns the change after which the run has no more than `permitted` restarts:
// FewerInterruptions or, if that is "", fewer planned launches.
std::string FewerRestarts(const UnmetRun& run, uint64_t permitted) {
  std::string text = FewerInterruptions(run.record(), run.all, permitted);
  if (!text.empty()) return text;
  const std::vector<PlannedLaunch>& launches = run.record().setup.launches;
  if (run.record().launchers.size() > run.facts().requeues + 1) {
    return "list fewer launches, as each start after the first is a restart";
  }
  const bool is_to_stop = std::ranges::any_of(
      launches, [](const PlannedLaunch& one) { return one.stop_at_step > 0; });
  return is_to_stop && run.facts().requeues > 0
             ? "remove stop_at_step from launches, as a job that stops before "
               "its end is started again"
             : "";
}

// Returns true iff the training ended because its values were not finite.
bool IsNotFinite(const Record& record) {
  return !record.launchers.empty() && record.launchers.back().result &&
         record.launchers.back().result->status == "not_finite";
}

// Returns the change after which a run no longer ends as it did: because it
// refused to train, because a value was not finite, or because a worker was
// killed in its grace period. For any other end, returns the change that
// prevents the interruptions after the first `permitted` ones. Returns "" if no
// change is known.
std::string RemedyForEnd(const UnmetRun& run, uint64_t permitted) {
  const Record& record = run.record();
  if (HasRefused(record)) {
    const int code = record.launchers.back().exit_code;
    if (IsExit(code, {WorkerExit::kOtherJob})) {
      const bool restarts = record.expect.outcome == Outcome::kCompletes &&
                            record.setup.launches.size() > 1;
      return fmt::format(
          "remove the changed settings from launches, as all launches of a "
          "scenario use one checkpoint directory{}",
          restarts ? "; and set outcome: recovers, as each start after the "
                     "first is a restart"
                   : "");
    }
    return IsExit(code, {WorkerExit::kNoCheckpoint})
               ? LoadableCheckpointRemedy(run.outline)
               : "";
  }
  if (IsNotFinite(record)) {
    return "lower job.optimizer.lr, or set job.stop_on_nan to false";
  }
  if (const std::optional<KilledInGrace> killed =
          FindKilledInGrace(run.outline)) {
    return KilledInGraceRemedy(record.setup, *killed);
  }
  return FewerInterruptions(run.record(), run.all, permitted);
}

// Returns true iff the job went on with fewer workers than it began with.
bool HasScaledDown(const Record& record) {
  return record.setup.min_workers > 0 && !ScaleDownTexts(record).empty();
}

// Returns the number of restarts after which the scenario expects the launcher
// to give up, if the run was completed after fewer. Returns nullopt if
// cluster.restart.max alone does not decide it: after a scale-down or a
// requeue, if the policy never restarts, or if a launcher without progress
// gives up before.
std::optional<uint64_t> RestartsBeforeGivingUp(const UnmetRun& run) {
  const Record& record = run.record();
  const std::optional<uint64_t> expected = record.expect.restarts_exactly;
  const bool applies = record.expect.outcome == Outcome::kGivesUp &&
                       IsDone(record) && !record.setup.never_restarts &&
                       !HasScaledDown(record) && run.facts().requeues == 0 &&
                       expected > run.facts().restarts &&
                       *expected <= kMaxRestartsWithoutProgress;
  return applies ? expected : std::nullopt;
}

std::string RemedyForGivingUp(const UnmetRun& run) {
  constexpr const char* kEndEachAttempt =
      "let a fault end each attempt (at: {incarnation: any}, with: {repeat: "
      "always})";
  const RunSetup& setup = run.record().setup;
  if (HasScaledDown(run.record())) {
    return fmt::format(
        "raise cluster.min_workers ({}) to {}, so that the job does not go on "
        "with fewer workers",
        setup.min_workers, setup.workers);
  }
  const uint64_t restarts = run.facts().restarts - run.facts().requeues;
  if (const std::optional<uint64_t> expected = RestartsBeforeGivingUp(run)) {
    const auto permitted = static_cast<uint64_t>(setup.max_restarts);
    return *expected == permitted
               ? kEndEachAttempt
               : fmt::format("{}, and set cluster.restart.max ({}) to {}",
                             kEndEachAttempt, permitted, *expected);
  }
  if (restarts == 0 || setup.never_restarts) return kEndEachAttempt;
  return fmt::format(
      "lower cluster.restart.max ({}) to {}, as the run needs {}",
      setup.max_restarts, restarts - 1, Counted(restarts, "restart"));
}

std::string RemedyForRefusal(const UnmetRun& run) {
  if (run.facts().restarts == 0) {
    return "add a fault that ends a worker (do: crash), as a run that is not "
           "restarted loads no checkpoint, and faults that damage every "
           "checkpoint before it";
  }
  return fmt::format(
      "let faults damage every checkpoint before the restart (checkpoint.keep "
      "is {}), as the run resumes from any intact one",
      run.record().setup.keep);
}

// Returns true iff the loss of an epoch was not finite.
bool HasLossThatIsNotFinite(const Record& record) {
  return std::ranges::any_of(EpochEndsOf(record), [](const auto& end) {
    return !std::isfinite(std::bit_cast<float>(end.second->loss_bits));
  });
}

// Returns the change after which a run that was completed stops on a preemption
// notice; "" if none is known.
std::string RemedyForStop(const UnmetRun& run) {
  const RunSetup& setup = run.record().setup;
  const FaultOccurrence* const notice = FirstNotice(run.outline);
  if (notice == nullptr) {
    return "add a preemption notice (do: preempt) before the last step, "
           "and set preemption.requeue to 0, so that the job does not "
           "start again after its stop";
  }
  if (!run.all.empty()) return RemedyForEnd(run, 0);
  if (setup.notice_grace_ns > 0) return WithoutNoticeGrace(setup);
  const uint64_t last = LastStepOf(run.record());
  const uint64_t latest =
      last > setup.steps_per_execution ? last - setup.steps_per_execution : 0;
  if (notice->fault->polled || notice->event().step <= latest || latest == 0) {
    return "";
  }
  return StepAdvice(*notice->fault, {.last = latest}) +
         ", as a run that reads a notice in its last step completes";
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
      return is_done ? RemedyForStop(run) : RemedyForEnd(run, 0);
    case Outcome::kGivesUp:
      return is_done ? RemedyForGivingUp(run) : "";
    case Outcome::kRefuses:
      return is_done ? RemedyForRefusal(run) : "";
    case Outcome::kRetryLater:
      // Only simulated disks have a limited size.
      return fmt::format(
          "let each save fail (at: {{point: ckpt.shard.open, incarnation: "
          "any}}, do: errno, with: {{error: ENOSPC, repeat: always}}){}; and "
          "set preemption.requeue to 0, as each start tries to save for about "
          "half a minute before it gives up{}",
          record.world == "real" ? "" : ", or lower disk.capacity",
          record.expect.failed_saves_exactly == run.facts().failed_saves
              ? "; and remove failed_saves, as more saves then fail"
              : "");
    case Outcome::kStopsOnNan:
      return HasLossThatIsNotFinite(record)
                 ? "set job.stop_on_nan to true"
                 : "set job.stop_on_nan to true, and raise job.optimizer.lr "
                   "until the loss is not finite";
    case Outcome::kViolates:
      return "";
  }
  return "";
}

// Returns the change after which the run has `expected` restarts, which is more
// than it had; "" if cluster.restart.max cannot be set to this number.
std::string MoreRestarts(const UnmetRun& run, uint64_t expected) {
  const Record& record = run.record();
  const auto budget = static_cast<uint64_t>(record.setup.max_restarts);
  if (expected <= budget) {
    return MoreEnds(run, expected - run.facts().restarts);
  }
  if (!IsPermitted("cluster.restart.max", expected)) return "";
  // Does not name the present budget if the policy never restarts: the budget
  // is then 0, whatever the scenario sets.
  const std::string raised =
      record.setup.never_restarts
          ? fmt::format(
                "set cluster.restart.policy to whole-job and "
                "cluster.restart.max to {}",
                expected)
          : fmt::format("raise cluster.restart.max ({}) to {}", budget,
                        expected);
  const RecordEvent* const gave_up = FindGaveUp(record);
  const bool is_endless = gave_up != nullptr &&
                          gave_up->reason == RecordReason::kRestartsUsedUp &&
                          expected <= kMaxRestartsWithoutProgress &&
                          !EndlessFaults(record, run.all).empty();
  return is_endless
             ? raised
             : fmt::format("{}, and {}",
                           MoreEnds(run, expected - run.facts().restarts),
                           raised);
}

// Returns the change after which the run has exactly `expected` restarts, which
// is fewer than it had.
std::string FewerRestartsExactly(const UnmetRun& run, uint64_t expected) {
  const Record& record = run.record();
  const std::vector<CausedInterruptions> later =
      CausedAfter(record, run.all, expected);
  const auto ended_before = [&](const CausedInterruptions& caused) {
    return std::any_of(run.all.begin(),
                       run.all.begin() + static_cast<ptrdiff_t>(expected),
                       [&caused](const Interruption& one) {
                         return one.faults.contains(caused.fault);
                       });
  };
  const auto both = std::ranges::find_if(later, ended_before);
  // If one of the later faults also ended an earlier attempt, its removal would
  // remove that restart, too. So removes faults only if there is no such fault.
  if (run.all.size() < expected || both == later.end()) {
    return FewerRestarts(run, expected);
  }
  const std::string& id = both->fault->id;
  const RecordEvent* const gave_up = FindGaveUp(record);
  if (record.expect.outcome == Outcome::kGivesUp && gave_up != nullptr &&
      run.facts().requeues == 0 && expected > 0) {
    return fmt::format("lower cluster.restart.max ({}) to {}",
                       record.setup.max_restarts, expected);
  }
  const bool is_of_any_incarnation = FiresInAnyIncarnation(*both->fault);
  if (!is_of_any_incarnation && both->fault->duration_ns > 0) {
    return fmt::format(
        "shorten the duration of fault {} ({}), so that it interrupts the run "
        "fewer times",
        id, DurationToText(Duration(both->fault->duration_ns)));
  }
  if (later.size() > 1 || !is_of_any_incarnation) {
    return fmt::format("limit fault {}, so that it ends fewer attempts", id);
  }
  if (expected > 1) {
    return fmt::format(
        "replace fault {} by {} copies with incarnation: 1 to incarnation: {}, "
        "and leave the rest of `at` as it is",
        id, expected, expected);
  }
  return both->fault->always
             ? fmt::format("set the repeat of fault {} to once", id)
             : fmt::format("set the incarnation of fault {} to 1", id);
}

std::string RemedyForRestarts(const UnmetRun& run) {
  const Expectation& expect = run.record().expect;
  const uint64_t most = std::min(expect.restarts_exactly.value_or(UINT64_MAX),
                                 expect.restarts_max.value_or(UINT64_MAX));
  const uint64_t found = run.facts().restarts;
  if (found > most) {
    const std::string text = expect.restarts_exactly == most
                                 ? FewerRestartsExactly(run, most)
                                 : FewerRestarts(run, most);
    return text.empty() || most > 0
               ? text
               : text + OutcomeWithoutRestart(run.record());
  }
  // RemedyForGivingUp already advises on the restarts.
  if (RestartsBeforeGivingUp(run)) return "";
  return WithOutcome(run, expect.restarts_exactly
                              ? MoreRestarts(run, *expect.restarts_exactly)
                              : OneMoreEnd(run));
}

// Returns the faults at points that only workers that rejoin reach.
std::vector<const RecordFault*> FaultsOfRejoins(const Record& record) {
  std::vector<const RecordFault*> faults;
  for (const RecordFault& fault : record.faults) {
    const std::optional<Point> point = FindPoint(fault.point);
    if (point && InfoOf(*point).needs == PointNeeds::kRejoin) {
      faults.push_back(&fault);
    }
  }
  return faults;
}

std::string RemedyForResume(const UnmetRun& run) {
  const RunFacts& facts = run.facts();
  if (facts.restarts == 0) return WithOutcome(run, OneMoreEnd(run));
  const bool kept_memory =
      std::ranges::any_of(run.outline.generations, [](const Generation& one) {
        return one.resumed_from_memory.has_value();
      });
  if (!facts.resumed_from && kept_memory) {
    const std::vector<const RecordFault*> faults =
        FaultsOfRejoins(run.record());
    return fmt::format(
        "set cluster.restart.policy to whole-job{}, as a worker that rejoins "
        "loads no checkpoint",
        faults.empty()
            ? ""
            : fmt::format(" and remove {}, whose point only a rejoin reaches",
                          NamedFaults(faults)));
  }
  return ResumeRemedy(run.outline, run.verdict);
}

std::string RemedyForRecomputedSteps(const UnmetRun& run) {
  const Record& record = run.record();
  if (const std::optional<KilledInGrace> killed =
          FindKilledInGrace(run.outline)) {
    return KilledInGraceRemedy(record.setup, *killed);
  }
  return RecomputedStepsRemedy(run.outline, run.verdict);
}

std::string RemedyForFailedSaves(const UnmetRun& run) {
  return FailedSavesRemedy(run.outline, run.verdict);
}

std::string RemedyForEndsAt(const UnmetRun& run) {
  const Record& record = run.record();
  if (!record.setup.launches.empty()) {
    return "change epochs, max_steps or stop_at_step of the last entry of "
           "launches";
  }
  if (IsDone(record)) return LastStepRemedy(run.outline);
  if (std::string text = StopStepRemedy(run.outline); !text.empty()) {
    return text;
  }
  // If the scenario expects a clean stop, RemedyForEnd would remove the notice,
  // and the run would not stop at all.
  return record.expect.outcome == Outcome::kStopsCleanly ? ""
                                                         : RemedyForEnd(run, 0);
}

// Returns the change after which no failed save is made again after a restart:
// "remove fault c, which ended attempt 1, as …"; "" if this does not give the
// expected number of saves.
std::string NoRepeatedSaves(const UnmetRun& run, uint64_t expected) {
  const Record& record = run.record();
  const std::set<uint64_t> steps = StepsSavedAfterRestart(record);
  uint64_t found = 0;
  for (const Generation& generation : run.outline.generations) {
    found += generation.saves.size();
  }
  if (!IsDone(record) || steps.empty() || found != expected + steps.size()) {
    return "";
  }
  const std::string fewer = FewerInterruptions(record, run.all, 0);
  if (fewer.empty()) return "";
  return fmt::format(
      "{}, as {}, which had failed, {} made again after the restart{}", fewer,
      SavesText(steps), steps.size() == 1 ? "was" : "were",
      OutcomeWithoutRestart(record));
}

std::string RemedyForSaves(const UnmetRun& run) {
  const uint64_t expected = run.record().expect.saves_exactly.value_or(0);
  const std::string schedule = SavesRemedy(run.outline, expected);
  const std::string once = NoRepeatedSaves(run, expected);
  return once.empty() ? schedule : fmt::format("{}; or {}", once, schedule);
}

std::string RemedyForCheckpoints(const UnmetRun& run) {
  return CheckpointsRemedy(run.outline);
}

// Returns the change after which the run completes the training, if exit code 0
// is expected: no other run has this code. Returns "" for other codes.
std::string RemedyForExitCode(const UnmetRun& run) {
  const Record& record = run.record();
  if (record.expect.exit_code != 0 || IsDone(record)) return "";
  const std::string text = RemedyForEnd(run, 0);
  const bool completes = record.expect.outcome == Outcome::kCompletes ||
                         record.expect.outcome == Outcome::kRecovers;
  return text.empty() || completes
             ? text
             : text +
                   "; and set outcome: completes, as exit code 0 is that of "
                   "a completed training";
}

std::string RemedyForEpochsAfterRestart(const UnmetRun& run) {
  if (run.facts().restarts == 0) return WithOutcome(run, OneMoreEnd(run));
  const RecordFault* const fault = FirstEndingFault(run);
  if (fault == nullptr) return "";
  const uint64_t expected =
      run.record().expect.epochs_after_restart_exactly.value_or(0);
  if (std::string text =
          EpochsAfterRestartRemedy(run.outline, *fault, expected);
      !text.empty()) {
    return text;
  }
  return fmt::format(
      "move fault {} to another epoch, as each epoch that ends after the "
      "restart counts",
      fault->id);
}

std::string RemedyForLoss(const UnmetRun& run) {
  return IsDone(run.record()) ? LossRemedy(run.record()) : RemedyForEnd(run, 0);
}

std::string RemedyForAccuracy(const UnmetRun& run) {
  return IsDone(run.record()) ? AccuracyRemedy(run.record())
                              : RemedyForEnd(run, 0);
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
    NamedRemedy{"loss", RemedyForLoss},
    NamedRemedy{"accuracy", RemedyForAccuracy},
    NamedRemedy{"exit_code", RemedyForExitCode},
};

// Returns "remove fault c" for "remove fault c, which ended attempt 1"; the
// whole text if it has no such reason, or if more follows the reason.
std::string_view WithoutReason(std::string_view change) {
  constexpr std::string_view kReason = ", which ";
  const size_t reason = change.find(kReason);
  if (reason == change.npos) return change;
  const bool has_more = change.find_first_of(",;", reason + kReason.size()) !=
                        std::string_view::npos;
  return has_more ? change : change.substr(0, reason);
}

// A change of the scenario, and the names of the expectations that it meets.
struct NamedChange {
  std::string text;
  std::vector<std::string_view> meets;

  // Adds another text of the same change. Keeps the text that has a reason.
  void Add(std::string other, std::string_view name) {
    if (text == WithoutReason(text)) text = std::move(other);
    meets.push_back(name);
  }
};

// Returns the first change, followed by the expectations whose changes depend
// on its result. If the run restarted, the change for resumed_from comes first,
// because a later end of the workers changes the other values, too.
std::string OneAtATime(const UnmetRun& run,
                       const std::vector<NamedChange>& changes) {
  if (changes.empty()) return "";
  const auto meets_resume = [](const NamedChange& change) {
    return std::ranges::find(change.meets, "resumed_from") !=
           change.meets.end();
  };
  auto first = changes.begin();
  if (run.facts().restarts > 0) {
    const auto resume = std::ranges::find_if(changes, meets_resume);
    if (resume != changes.end()) first = resume;
  }
  std::vector<std::string_view> others;
  for (auto change = changes.begin(); change != changes.end(); ++change) {
    if (change == first) continue;
    others.insert(others.end(), change->meets.begin(), change->meets.end());
  }
  return first->text + ThenRunAgain(others);
}

}  // namespace

std::string ThenRunAgain(std::vector<std::string_view> unmet) {
  std::ranges::sort(unmet);
  unmet.erase(std::unique(unmet.begin(), unmet.end()), unmet.end());
  return unmet.empty()
             ? ""
             : fmt::format(
                   "; then run the scenario again, as {} may still be "
                   "unmet",
                   fmt::join(unmet, ", "));
}

std::string FewerInterruptions(const Outline& outline, uint64_t permitted) {
  return FewerInterruptions(outline.record, InterruptionsOf(outline),
                            permitted);
}

std::string ShorterDelays(const Outline& outline) {
  const Record& record = outline.record;
  const std::vector<Interruption> all = InterruptionsOf(outline);
  for (auto one = all.rbegin(); one != all.rend(); ++one) {
    std::vector<std::string> texts;
    std::set<const RecordFault*> shortened;
    for (const RecordFault* fault : one->faults) {
      std::string text = DelayRemedy(record, {.fault = fault, .first = &*one});
      if (text.empty()) continue;
      texts.push_back(std::move(text));
      shortened.insert(fault);
    }
    if (texts.empty()) continue;
    const bool is_left =
        std::ranges::any_of(all, [&shortened](const Interruption& other) {
          return other.faults.empty() ||
                 !std::ranges::includes(shortened, other.faults);
        });
    return JoinedTexts(std::move(texts)) +
           (is_left ? "" : OutcomeWithoutRestart(record));
  }
  return "";
}

std::string RemedyForUnmet(const Outline& outline, const Verdict& verdict) {
  const UnmetRun run = {
      .outline = outline, .verdict = verdict, .all = InterruptionsOf(outline)};
  std::vector<NamedChange> changes;
  for (const Finding& finding : verdict.broken_expectations) {
    const auto found =
        std::ranges::find(kRemedies, finding.name, &NamedRemedy::name);
    if (found == kRemedies.end()) continue;
    std::string text = found->remedy(run);
    if (text.empty()) continue;
    const auto same = std::ranges::find(
        changes, WithoutReason(text),
        [](const NamedChange& one) { return WithoutReason(one.text); });
    if (same == changes.end()) {
      changes.push_back({.text = std::move(text), .meets = {found->name}});
    } else {
      same->Add(std::move(text), found->name);
    }
  }
  return OneAtATime(run, changes);
}

}  // namespace gauntlet
