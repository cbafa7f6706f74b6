#include "harness/run/failure/remedy/resume_remedy.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/text/counted.h"
#include "harness/record/checkpoint_loss.h"
#include "harness/record/fault_occurrence.h"
#include "harness/record/fault_traits.h"
#include "harness/record/text/named_faults.h"
#include "harness/run/failure/history/added_delays.h"
#include "harness/run/failure/history/begun_saves.h"
#include "harness/run/failure/history/causing_faults.h"
#include "harness/run/failure/history/cut_save.h"
#include "harness/run/failure/history/deletions.h"
#include "harness/run/failure/history/interruptions.h"
#include "harness/run/failure/history/last_holder.h"
#include "harness/run/failure/history/process_ends.h"
#include "harness/run/failure/history/worker_events.h"
#include "harness/run/failure/remedy/fault_step.h"
#include "harness/run/failure/remedy/notice_step.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

// Time of an event after the last one of a run.
constexpr int64_t kAfterTheRun = INT64_MAX;

// A save takes at most this many times its usual duration.
constexpr int64_t kMostTimesUsual = 2;

// A generation that started after an interruption.
struct Restart {
  RecordEvent start;  // first event of the generation
  // Fault that caused the interruption; null: none is known.
  const RecordFault* ending = nullptr;
  // Last event of that fault before the start; null: it has none.
  const RecordEvent* fired = nullptr;
};

// Returns the restart that begins with the event `start`, and the fault of the
// last interruption before it.
Restart RestartAt(const Outline& outline, const RecordEvent& start) {
  Restart restart = {.start = start};
  for (const Interruption& one : InterruptionsOf(outline)) {
    if (one.end_ns > start.t_ns) break;
    if (!one.faults.empty()) restart.ending = *one.faults.begin();
  }
  for (const FaultOccurrence& occurrence : outline.occurrences) {
    if (occurrence.fault == restart.ending &&
        occurrence.event().t_ns <= start.t_ns) {
      restart.fired = &occurrence.event();
    }
  }
  return restart;
}

// Returns the first event of the first generation that resumed from a
// checkpoint or, if none did, that started again from step 0. If the workers
// did not start again, returns an event after the run.
RecordEvent FirstStartAgain(const Outline& outline) {
  const Record& record = outline.record;
  const RecordEvent* const resumed =
      FirstOf(record, [](const RecordEvent& event) {
        return event.kind == RecordKind::kResumed;
      });
  if (resumed != nullptr) return *resumed;
  const RecordEvent* const first =
      FirstOf(record, [](const RecordEvent& event) {
        return event.kind == RecordKind::kInitialized;
      });
  const RecordEvent* const again =
      FirstOf(record, [first](const RecordEvent& event) {
        return event.kind == RecordKind::kInitialized &&
               event.generation > first->generation;
      });
  return again == nullptr ? RecordEvent{.t_ns = kAfterTheRun} : *again;
}

// Returns true iff the save of `step`, in which the fault fired, was committed
// before the fault: it was acknowledged by then, or the workers resumed from
// it. The latter shows a fault between the commit and the acknowledgement.
// REQUIRES: restart.fired is not null.
bool FiredAfterCommit(const Record& record, const Restart& restart,
                      uint64_t step) {
  if (restart.start.kind == RecordKind::kResumed &&
      restart.start.step == step) {
    return true;
  }
  const RecordEvent* const begun =
      NewestUntil(record, RecordKind::kSaveBegin, step, *restart.fired);
  const RecordEvent* const done =
      NewestUntil(record, RecordKind::kSaveAcknowledged, step, *restart.fired);
  return begun != nullptr && done != nullptr && ComesBefore(*begun, *done);
}

// Returns the change after which the fault fires in a later save and after the
// commit of the save of `step`: "set the save of fault t (2) to 3"; "" if no
// such save is due. A fault that fires after the commit of its own save needs
// the save of `step`; any other fault needs the next one.
std::string LaterSaveAdvice(const Record& record, const Restart& restart,
                            uint64_t step) {
  const RecordFault& fault = *restart.ending;
  const uint64_t interval = record.setup.save_interval_steps;
  const uint64_t at =
      restart.fired == nullptr ? 0 : StepOfSaveAt(record, *restart.fired);
  if (!fault.save || interval == 0 || at == 0 || at > step) {
    return fmt::format("move fault {}", fault.id);
  }
  const uint64_t between = (step - at) / interval;
  const uint64_t more = between > 0 && FiredAfterCommit(record, restart, at)
                            ? between
                            : between + 1;
  if (at + more * interval > LastStepOf(record)) return "";
  return fmt::format("set the save of fault {} ({}) to {}", fault.id,
                     *fault.save, *fault.save + more);
}

// Returns the change after which the fault fires when the save after that of
// `step` begins: "set `at` of fault c to {worker: 1, save: 3, point:
// ckpt.begin}". An asynchronous save begins once the one before it is
// acknowledged. Returns "" if training ends before the next save.
std::string NextSaveAdvice(const Record& record, const Restart& restart,
                           uint64_t step) {
  const RecordFault& fault = *restart.ending;
  const uint64_t interval = record.setup.save_interval_steps;
  if (interval == 0 || step + interval > LastStepOf(record)) return "";
  uint64_t number = 0;  // of the newest save up to `step` that had begun
  uint64_t newest = 0;  // its step
  for (const BegunSave& save : SavesBegunBy(record, restart.start)) {
    if (save.step > step) break;
    ++number;
    newest = save.step;
  }
  return fmt::format(
      "set `at` of fault {} to {{worker: {}, save: {}, point: ckpt.begin}}",
      fault.id, fault.worker, number + (step - newest) / interval + 1);
}

// Returns the change after which the save of `step` is complete before the
// fault fires, and at most `most` steps are recomputed: "set checkpoint.mode
// (async) to sync, so that …" and, if the step of the fault does not fit, "…,
// and set the step of fault c (9) to …". Returns "" if the training ends at
// `step`.
std::string SyncSaveAdvice(const Record& record, const RecordFault& fault,
                           uint64_t step, uint64_t most) {
  const uint64_t end = LastStepOf(record);
  if (step >= end) return "";
  const uint64_t interval = record.setup.save_interval_steps;
  // A fault in the step of the next due save fires before that save.
  const uint64_t next = interval == 0 ? end : std::min(step + interval, end);
  const StepRange steps = {.first = step + 1,
                           .last = std::min(step + 1 + most, next)};
  const bool is_there = *fault.step >= steps.first && *fault.step <= steps.last;
  return fmt::format(
      "set checkpoint.mode (async) to sync{}, so that the save of step {} is "
      "complete before fault {} fires",
      is_there ? "" : ", and " + StepAdvice(fault, steps), step, fault.id);
}

// Returns the change after which the fault comes after the save of `step`; ""
// if it does so already, or if the change is not known.
std::string AfterSaveAdvice(const Record& record, const Restart& restart,
                            uint64_t step) {
  if (restart.ending == nullptr) return "";
  const RecordFault& fault = *restart.ending;
  const uint64_t interval = record.setup.save_interval_steps;
  std::string moved;
  std::string_view reason;
  if (fault.in_save) {
    moved = LaterSaveAdvice(record, restart, step);
  } else if (!fault.step) {
    moved = fmt::format("move fault {}", fault.id);
  } else if (record.setup.async_saves) {
    // If the fault comes at the next save, a whole interval is recomputed.
    const uint64_t whole = interval == 0 ? LastStepOf(record) : interval;
    const uint64_t most = record.expect.recomputed_steps_max.value_or(whole);
    if (most >= whole) moved = NextSaveAdvice(record, restart, step);
    if (moved.empty()) return SyncSaveAdvice(record, fault, step, most);
    reason = ", as each save waits for the one before";
  } else {
    const uint64_t first = step + 1;
    if (*fault.step >= first || first > LastStepOf(record)) return "";
    // A fault in the step of the next due save fires before that save.
    moved = StepAdvice(
        fault, {.first = first,
                .last = interval == 0
                            ? 0
                            : std::min(step + interval, LastStepOf(record))});
  }
  if (moved.empty()) return "";
  return fmt::format("{}, so that the save of step {} comes before it{}", moved,
                     step, reason);
}

// Returns the change after which a save that was pending at the restart is
// complete: without the faults that delayed it, and with a later end of the
// workers if it took too long even so.
std::string CompletedSave(const Outline& outline, const Restart& restart,
                          const BegunSave& save) {
  const Record& record = outline.record;
  const RecordEvent* const end =
      FirstEnd(record, save.begin_ns, restart.start.t_ns);
  const int64_t until_ns = end == nullptr ? restart.start.t_ns : end->t_ns;
  std::vector<const RecordFault*> delays = DelaysOf(record, save, until_ns);
  const std::string moved = AfterSaveAdvice(record, restart, save.step);
  // The fault that ended the workers is moved, so it delays the save no more.
  if (!moved.empty()) std::erase(delays, restart.ending);
  if (delays.empty()) return moved;
  const std::string removed =
      fmt::format("remove {}, which delayed the save of step {}",
                  NamedFaults(delays), save.step);
  // The fault that ended the workers may fire in this save, even without a
  // delay.
  const bool is_in_save = restart.ending != nullptr &&
                          restart.ending->in_save && restart.fired != nullptr &&
                          StepOfSaveAt(record, *restart.fired) == save.step;
  const FaultOccurrence* const fault =
      end == nullptr ? nullptr : ImmediateFaultOf(outline, *end, save.begin_ns);
  const bool is_slow_anyway = IsSlowAnyway(
      record, save, fault == nullptr ? until_ns : fault->event().t_ns);
  if ((is_in_save || is_slow_anyway) && !moved.empty()) {
    // The next asynchronous save waits for a delay that ends.
    const bool waits = record.setup.async_saves && !is_in_save &&
                       std::ranges::all_of(delays, [](const auto* delay) {
                         return DelayOf(*delay) > 0;
                       });
    return waits ? moved : fmt::format("{}, and {}", removed, moved);
  }
  // A fault that repeats may have delayed the other saves, too.
  const bool is_remedy =
      !is_slow_anyway || !std::ranges::all_of(delays, &RecordFault::fires_once);
  return is_remedy ? removed : "";
}

// Returns the advice to let the fault that ended the workers fire after the
// pending save. Names no step, because the record does not show at which step
// the save is complete. Returns "" if that fault is not known.
std::string LaterEndAdvice(const Record& record, const Restart& restart,
                           const BegunSave& save) {
  if (restart.ending == nullptr || save.ending != SaveEnding::kPending) {
    return "";
  }
  const uint64_t next = save.step + record.setup.save_interval_steps;
  const std::string usual = UsualSaveText(record);
  return fmt::format(
      "let fault {} fire after the save of step {} is acknowledged{}{}",
      restart.ending->id, save.step,
      next > save.step && next <= LastStepOf(record)
          ? fmt::format(", but before the save of step {} is acknowledged",
                        next)
          : "",
      usual.empty() ? "" : fmt::format(" ({})", usual));
}

// Returns the change after which the acknowledged checkpoint of `step` can be
// loaded at the restart; "" if it could be, or if no change is known.
std::string UndamagedCheckpoint(const Outline& outline, const Restart& restart,
                                uint64_t step) {
  const Record& record = outline.record;
  for (const LostCheckpoint& one : LostCheckpointsOf(record)) {
    if (one.step != step || one.acknowledged_ns > restart.start.t_ns) continue;
    const RecordEvent* const damage = DamageOf(record, one.name);
    if (damage == nullptr) return HonestDiskRemedy(outline);
    if (damage->t_ns > restart.start.t_ns) continue;
    return fmt::format(
        "remove fault {}, which damaged the checkpoint of step {}",
        damage->detail, step);
  }
  return "";
}

// Returns "remove fault e, which made the save of step 8 fail"; "" if no fault
// made it fail. If those faults fail a save only once, and damage kept it from
// being tried again, adds ", or remove fault flip, so that …".
std::string UnfailedSave(const Record& record, const BegunSave& save) {
  const std::vector<const RecordFault*> failing = FailingFaults(record, save);
  if (failing.empty()) return "";
  const RecordEvent* const damage = DamageThatKeptOldest(record, save);
  const bool fails_only_once =
      std::ranges::all_of(failing, [](const RecordFault* fault) {
        return fault->save || fault->fires_once();
      });
  return fmt::format(
      "remove {}, which made the save of step {} fail{}", NamedFaults(failing),
      save.step,
      damage == nullptr || !fails_only_once
          ? ""
          : fmt::format(
                ", or remove fault {}, so that the oldest checkpoint is "
                "deleted to make room, and the save is tried again",
                damage->detail));
}

// Returns the change after which an asynchronous save that failed, and might
// otherwise still be in progress when the fault ends the workers, comes before
// it; "" for other saves.
std::string EndAfterFailedSave(const Record& record, const Restart& restart,
                               const BegunSave& save) {
  if (!record.setup.async_saves || restart.fired == nullptr ||
      save.ending != SaveEnding::kFailed) {
    return "";
  }
  const int64_t left_ns = restart.fired->t_ns - save.begin_ns;
  const bool is_known = !DurationsOfSaves(record).empty();
  const bool may_be_pending =
      !is_known ||
      IsSlowAnyway(record, save, save.begin_ns + left_ns / kMostTimesUsual);
  return may_be_pending ? AfterSaveAdvice(record, restart, save.step) : "";
}

// Returns the change after which the checkpoint of a step whose save had begun
// by the restart can be loaded then; "" if it could be, or if no change is
// known.
std::string LoadableCheckpoint(const Outline& outline, const Restart& restart,
                               const BegunSave& save) {
  if (save.ending == SaveEnding::kPending) {
    return CompletedSave(outline, restart, save);
  }
  if (save.ending == SaveEnding::kFailed) {
    return UnfailedSave(outline.record, save);
  }
  return UndamagedCheckpoint(outline, restart, save.step);
}

// Returns the change after which the first launch ends at the expected step:
// "set max_steps of the first launch (8) to 5"; "" if it did not end because of
// its max_steps at the step that was found, or if training or the epochs of the
// launch may end before the expected step.
std::string MovedEndOfLaunch(const Record& record, uint64_t found,
                             uint64_t expected) {
  const std::vector<PlannedLaunch>& launches = record.setup.launches;
  if (launches.empty() || expected == 0 || expected >= LastStepOf(record)) {
    return "";
  }
  const bool has_all_epochs = launches[0].epochs >= record.setup.epochs;
  if (expected > found && !has_all_epochs) return "";
  const bool is_first = !record.launchers.empty() &&
                        record.launchers[0].result &&
                        record.launchers[0].result->steps == found;
  return is_first && launches[0].max_steps == found
             ? fmt::format("set max_steps of the first launch ({}) to {}",
                           found, expected)
             : "";
}

// Returns the change after which the run could have loaded the checkpoint of
// `step`; "" if it could already, or if no change is known.
std::string LoadableStep(const Outline& outline, const Restart& restart,
                         uint64_t step) {
  for (const BegunSave& save : SavesBegunBy(outline.record, restart.start)) {
    if (save.step == step && save.ending != SaveEnding::kPending) {
      return LoadableCheckpoint(outline, restart, save);
    }
  }
  return "";
}

// Returns the first step after the other faults that fired before the fault
// that ended the workers; 0 if none did. Earlier, that fault may never fire: it
// may have to wait for one of them (`after` in the scenario).
uint64_t FirstStepInOrder(const Outline& outline, const Restart& restart) {
  if (restart.fired == nullptr) return 0;
  uint64_t first = 0;
  for (const FaultOccurrence& occurrence : outline.occurrences) {
    if (occurrence.fault != restart.ending &&
        occurrence.event().step < restart.fired->step &&
        ComesBefore(occurrence.event(), *restart.fired)) {
      first = std::max(first, occurrence.event().step + 1);
    }
  }
  return first;
}

// Returns the change after which an older step is resumed from: the fault ends
// the workers before the save of the step that was found, and the expected step
// can be loaded.
std::string OlderResume(const Outline& outline, const Restart& restart,
                        uint64_t found) {
  const Record& record = outline.record;
  const uint64_t expected = record.expect.resumed_from_step.value_or(0);
  const RecordFault& fault = *restart.ending;
  const uint64_t first = std::max(expected == 0 ? 0 : expected + 1,
                                  FirstStepInOrder(outline, restart));
  std::string moved;
  if (HasOwnStep(fault) && record.setup.async_saves && expected > 0) {
    moved = NextSaveAdvice(record, restart, expected);
  } else if (HasOwnStep(fault) && first <= found) {
    moved = StepAdvice(fault, {.first = first, .last = found});
  }
  if (moved.empty()) moved = fmt::format("move fault {}", fault.id);
  const std::string loadable = LoadableStep(outline, restart, expected);
  return fmt::format("{}, so that it comes before the save of step {}{}", moved,
                     found, loadable.empty() ? "" : "; and " + loadable);
}

// Returns the change of checkpoint.every after which the run resumes from a
// step that is not due with the present interval. Names the values only if the
// interval and the step of a fault alone decide from which save the run
// resumes. Returns "" if training ends at the expected step or earlier, because
// no run resumes from there.
std::string OtherInterval(const Record& record, const Restart& restart,
                          uint64_t expected) {
  if (expected >= LastStepOf(record)) return "";
  const RunSetup& setup = record.setup;
  const bool is_simple =
      restart.ending != nullptr && HasOwnStep(*restart.ending) &&
      !TraitsOf(*restart.ending).kills_launcher && !setup.async_saves &&
      !setup.rejoins && setup.steps_per_execution == 1 &&
      setup.launches.empty() &&
      std::ranges::none_of(record.faults, &RecordFault::in_save);
  if (!is_simple) {
    return fmt::format(
        "change checkpoint.every so that step {} is saved (a save is due after "
        "each {} steps)",
        expected, setup.save_interval_steps);
  }
  const uint64_t step = *restart.ending->step;
  const bool is_between = step > expected && step <= 2 * expected;
  return fmt::format(
      "set checkpoint.every ({} steps) to {{steps: {}}}{}",
      setup.save_interval_steps, expected,
      is_between
          ? ""
          : ", and " + StepAdvice(*restart.ending,
                                  {.first = expected + 1,
                                   .last = std::min(2 * expected,
                                                    LastStepOf(record))}));
}

// The generation that recomputed the most steps.
struct MostRecomputed {
  RecomputedSteps steps;
  Restart restart;
  const Generation* generation = nullptr;
};

std::optional<MostRecomputed> FindMostRecomputed(const Outline& outline,
                                                 const RunFacts& facts) {
  for (const Generation& generation : outline.generations) {
    if (!generation.recomputed ||
        generation.recomputed->steps() != facts.max_recomputed_steps) {
      continue;
    }
    const RecordEvent* const start =
        FirstOf(outline.record, [&](const RecordEvent& event) {
          return event.generation == generation.number &&
                 (event.kind == RecordKind::kResumed ||
                  event.kind == RecordKind::kResumedFromMemory ||
                  event.kind == RecordKind::kInitialized);
        });
    if (start == nullptr) continue;
    return MostRecomputed{.steps = *generation.recomputed,
                          .restart = RestartAt(outline, *start),
                          .generation = &generation};
  }
  return std::nullopt;
}

// Returns true iff the fault that ended the workers killed their launcher.
bool KillsLauncher(const Restart& restart) {
  return restart.ending != nullptr && TraitsOf(*restart.ending).kills_launcher;
}

// Returns the change after which the workers could resume from a newer save
// that had begun, so that they recompute at most `most` steps.
std::string NewerSave(const Outline& outline, const MostRecomputed& found,
                      uint64_t most) {
  // A newer save may not suffice after the kill of the launcher, because its
  // workers train on for some time.
  if (KillsLauncher(found.restart)) return "";
  // A fault that fires before the commit of a save costs a whole interval,
  // whichever save it is in.
  const RecordFault* const ending = found.restart.ending;
  const bool costs_an_interval =
      ending != nullptr && ending->in_save &&
      most < outline.record.setup.save_interval_steps;
  for (const BegunSave& save :
       SavesBegunBy(outline.record, found.restart.start)) {
    if (save.step <= found.steps.from || save.step + most < found.steps.to) {
      continue;
    }
    if (costs_an_interval && save.ending == SaveEnding::kPending) continue;
    std::string text = LoadableCheckpoint(outline, found.restart, save);
    if (!text.empty()) return text;
  }
  return "";
}

// Returns "set the step of fault c (9) to 6, so that it comes 0 steps after the
// save of step 5"; "" if the fault is there already, or if its place is not a
// step.
std::string SoonAfterSaveAdvice(const RunSetup& setup, const Restart& restart,
                                uint64_t most) {
  if (restart.ending == nullptr || setup.async_saves) return "";
  if (KillsLauncher(restart)) return "";
  const RecordFault& fault = *restart.ending;
  const uint64_t interval = setup.save_interval_steps;
  if (!HasOwnStep(fault) || *fault.step == 0) return "";
  const uint64_t saved = (*fault.step - 1) / interval * interval;
  if (saved == 0 || saved + 1 + most >= *fault.step) return "";
  const uint64_t step = saved + 1 + most;
  return fmt::format("{}, so that it comes {} after the save of step {}",
                     StepAdvice(fault, {.first = step, .last = step}),
                     Counted(most, "step"), saved);
}

// Returns true iff the fault ended the workers in a save before its commit.
bool EndedBeforeCommit(const Record& record, const Restart& restart) {
  return restart.ending != nullptr && restart.ending->in_save &&
         restart.fired != nullptr &&
         !FiredAfterCommit(record, restart,
                           StepOfSaveAt(record, *restart.fired));
}

// Returns the change after which the fault, which ended the workers in a save,
// comes at the first step after the save that was loaded: "set `at` of fault c
// to {worker: 1, step: 11}, as …"; "" if that save may still be in progress at
// this step, or if the workers loaded no checkpoint.
std::string AtNextStepAdvice(const RunSetup& setup,
                             const MostRecomputed& found) {
  const RecordFault& fault = *found.restart.ending;
  if (setup.async_saves || found.steps.from == 0 || !EndsItsProcess(fault) ||
      found.generation->resumed_from_memory) {
    return "";
  }
  return fmt::format(
      "set `at` of fault {} to {{worker: {}, step: {}}}, as a worker that ends "
      "in a save has not committed the step of this save",
      fault.id, fault.worker, found.steps.from + 1);
}

// Returns the change of checkpoint.every after which at most `most` steps are
// recomputed; "" if it is the present value.
std::string MoreSaves(const RunSetup& setup, uint64_t most) {
  if (setup.no_store) return "";
  const uint64_t interval = setup.save_interval_steps;
  const uint64_t needed =
      std::max<uint64_t>({most, 1, setup.steps_per_execution});
  if (interval == 0) {
    return fmt::format("set checkpoint.every to {{steps: {}}}", needed);
  }
  return interval <= needed
             ? ""
             : fmt::format("lower checkpoint.every ({} steps) to {{steps: {}}}",
                           interval, needed);
}

// Returns the change after which a worker survives and passes on its state, if
// faults ended all workers of a job that rejoins; else "".
std::string SparedWorker(const Outline& outline, const MostRecomputed& found) {
  const RunSetup& setup = outline.record.setup;
  if (const std::optional<EndOfLastHolder> end =
          FindEndOfLastHolder(outline, *found.generation)) {
    return fmt::format(
        "remove fault {}, so that worker {} passes on its state in memory",
        end->fault->id, end->worker);
  }
  const RecordFault* const fault = found.restart.ending;
  const bool from_memory = found.generation->resumed_from_memory.has_value();
  if (!setup.rejoins || from_memory || fault == nullptr ||
      fault->worker != "all" || setup.workers < 2) {
    return "";
  }
  return fmt::format(
      "set the worker of fault {} (all) to 1, so that the others "
      "keep the state in memory",
      fault->id);
}

}  // namespace

std::string HonestDiskRemedy(const Outline& outline) {
  const bool is_lying = std::ranges::any_of(
      outline.occurrences, [](const FaultOccurrence& occurrence) {
        return occurrence.traits.cuts_power &&
               occurrence.fault->disk == kLyingDisk;
      });
  return is_lying ? fmt::format(
                        "set disk.profile ({}) to ext4, as a power loss "
                        "then keeps the data of each fsync",
                        kLyingDisk)
                  : "";
}

std::string ResumeRemedy(const Outline& outline, const Verdict& verdict) {
  const Record& record = outline.record;
  const uint64_t expected = record.expect.resumed_from_step.value_or(0);
  const uint64_t found = verdict.facts.resumed_from.value_or(0);
  const uint64_t interval = record.setup.save_interval_steps;
  const Restart restart = RestartAt(outline, FirstStartAgain(outline));
  if (restart.ending != nullptr && TraitsOf(*restart.ending).gives_notice) {
    return SaveAtStopAdvice(record, *restart.ending, found, expected);
  }
  if (restart.ending == nullptr) {
    std::string text = MovedEndOfLaunch(record, found, expected);
    if (!text.empty() || found > expected) return text;
  }
  if (interval > 0 && expected % interval != 0) {
    return OtherInterval(record, restart, expected);
  }
  if (found > expected) return OlderResume(outline, restart, found);
  for (const BegunSave& save : SavesBegunBy(record, restart.start)) {
    if (save.step != expected) continue;
    std::string text = LoadableCheckpoint(outline, restart, save);
    if (text.empty()) return LaterEndAdvice(record, restart, save);
    const std::string moved = EndAfterFailedSave(record, restart, save);
    return moved.empty() ? text : fmt::format("{}, and {}", text, moved);
  }
  return AfterSaveAdvice(record, restart, expected);
}

std::string RecomputedStepsRemedy(const Outline& outline,
                                  const Verdict& verdict) {
  const RunSetup& setup = outline.record.setup;
  const uint64_t most = outline.record.expect.recomputed_steps_max.value_or(0);
  const std::optional<MostRecomputed> found =
      FindMostRecomputed(outline, verdict.facts);
  std::vector<std::string> texts;
  if (found) {
    if (std::string text = NewerSave(outline, *found, most); !text.empty()) {
      return text;
    }
    texts.push_back(SparedWorker(outline, *found));
  }
  const std::optional<uint64_t> resumed =
      outline.record.expect.resumed_from_step;
  // With more saves, the run would resume from a later step.
  const bool keeps_resume = resumed && resumed == verdict.facts.resumed_from;
  const bool ends_in_save =
      found && EndedBeforeCommit(outline.record, found->restart);
  // More saves do not help if the fault fires before the commit of a save, or
  // if workers train on after the kill of their launcher: the steps since the
  // last commit are always recomputed.
  const bool can_save_more =
      most > 0 || !found || !(KillsLauncher(found->restart) || ends_in_save);
  if (can_save_more && !keeps_resume) texts.push_back(MoreSaves(setup, most));
  if (found && setup.save_interval_steps > 0) {
    texts.push_back(most == 0 && ends_in_save
                        ? AtNextStepAdvice(setup, *found)
                        : SoonAfterSaveAdvice(setup, found->restart, most));
  }
  std::erase(texts, "");
  if (texts.empty() && keeps_resume) {
    return fmt::format(
        "let the workers end at most {} after step {}, from which the run is "
        "to resume: saves at other steps (checkpoint.every) would change that",
        Counted(most, "step"), *resumed);
  }
  return fmt::format("{}", fmt::join(texts, ", or "));
}

}  // namespace gauntlet
