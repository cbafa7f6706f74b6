#include "harness/run/failure/remedy/resume_remedy.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/text/counted.h"
#include "harness/record/checkpoint_loss.h"
#include "harness/record/fault_occurrence.h"
#include "harness/record/fault_traits.h"
#include "harness/run/failure/history/begun_saves.h"
#include "harness/run/failure/history/cut_save.h"
#include "harness/run/failure/history/interruptions.h"
#include "harness/run/failure/history/process_ends.h"
#include "harness/run/failure/history/worker_events.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

// An event after the last one of a run.
constexpr int64_t kAfterTheRun = INT64_MAX;

// A start of workers after an interruption, and the fault that caused it.
struct Restart {
  RecordEvent start;                    // the first of its generation
  const RecordFault* ending = nullptr;  // null: none is known
  const RecordEvent* fired = nullptr;   // the last event of that fault
};

// Returns the restart with that first event. The fault is that of the last
// interruption before it.
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

std::string NamedFaults(const std::vector<std::string_view>& ids) {
  return fmt::format("fault{} {}", ids.size() == 1 ? "" : "s",
                     fmt::join(ids, " and "));
}

std::vector<std::string_view> IdsOf(
    const std::vector<const RecordFault*>& faults) {
  std::vector<std::string_view> ids;
  for (const RecordFault* fault : faults) ids.push_back(fault->id);
  return ids;
}

// Returns the duration of the last step before that time, by the first worker
// that shows one; 0 if none does.
int64_t StepDurationBefore(const Record& record, int64_t t_ns) {
  for (const IncarnationEvents& incarnation : record.incarnations) {
    const RecordEvent* before = nullptr;
    int64_t duration_ns = 0;
    for (const RecordEvent& event : incarnation.events) {
      if (event.kind != RecordKind::kStep || event.t_ns > t_ns) continue;
      if (before != nullptr) duration_ns = event.t_ns - before->t_ns;
      before = &event;
    }
    if (duration_ns > 0) return duration_ns;
  }
  return 0;
}

// Returns the first step that begins after the save of `step` is complete;
// nullopt if that is not known. An asynchronous save is given a quarter more
// time than the last one took.
std::optional<uint64_t> FirstStepAfterSave(const Record& record, uint64_t step,
                                           const RecordEvent& start) {
  if (!record.setup.async_saves) return step + 1;
  const std::optional<DoneSave> done = LastSaveBefore(record, start.t_ns);
  const int64_t step_ns = StepDurationBefore(record, start.t_ns);
  if (!done || step_ns <= 0) return std::nullopt;
  const int64_t needed_ns = done->duration_ns / 4 * 5;
  return step + 1 + static_cast<uint64_t>((needed_ns + step_ns - 1) / step_ns);
}

// Returns "set the step of fault c (6) to a value from 9 to 11". `last` 0: "to
// 9 or later"; `first` 0: "to 11 or earlier".
std::string MovedTo(const RecordFault& fault, uint64_t first, uint64_t last) {
  const std::string value =
      last == 0       ? fmt::format("{} or later", first)
      : first == 0    ? fmt::format("{} or earlier", last)
      : first >= last ? std::to_string(first)
                      : fmt::format("a value from {} to {}", first, last);
  return fmt::format("set the step of fault {} ({}) to {}", fault.id,
                     *fault.step, value);
}

// Returns the change after which the fault fires in a later save than that of
// `step`: "set the save of fault t (2) to 3".
std::string MovedToLaterSave(const Restart& restart, uint64_t interval,
                             uint64_t step) {
  const RecordFault& fault = *restart.ending;
  const uint64_t at = restart.fired == nullptr ? 0 : restart.fired->step;
  if (!fault.save || interval == 0 || at == 0 || at > step) {
    return fmt::format("move fault {}", fault.id);
  }
  return fmt::format("set the save of fault {} ({}) to {}", fault.id,
                     *fault.save, *fault.save + (step - at) / interval + 1);
}

// Returns the change after which the fault comes after the save of `step`; ""
// if it does so already, or if the change is not known.
std::string MovedAfterSave(const Record& record, const Restart& restart,
                           uint64_t step) {
  if (restart.ending == nullptr) return "";
  const RecordFault& fault = *restart.ending;
  const uint64_t interval = record.setup.save_interval_steps;
  std::string moved;
  if (fault.in_save) {
    moved = MovedToLaterSave(restart, interval, step);
  } else if (!fault.step) {
    moved = fmt::format("move fault {}", fault.id);
  } else {
    const std::optional<uint64_t> first =
        FirstStepAfterSave(record, step, restart.start);
    if (!first || *fault.step >= *first) return "";
    const uint64_t last = interval == 0 ? 0 : step + interval - 1;
    if (interval > 1 && *first > last) return "";
    moved = MovedTo(fault, *first, last);
  }
  return fmt::format("{}, so that the save of step {} comes before it", moved,
                     step);
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
  const std::vector<std::string_view> delays =
      IdsOf(DelaysOf(record, save, until_ns));
  const std::string moved = MovedAfterSave(record, restart, save.step);
  if (delays.empty()) return moved;
  const std::string removed =
      fmt::format("remove {}, which delayed the save of step {}",
                  NamedFaults(delays), save.step);
  const std::optional<DoneSave> before = LastSaveBefore(record, save.begin_ns);
  const bool is_slow_anyway =
      before && before->duration_ns >= until_ns - save.begin_ns;
  return is_slow_anyway && !moved.empty()
             ? fmt::format("{}, and {}", removed, moved)
             : removed;
}

// Returns the change after which the acknowledged checkpoint of that step can
// be loaded at the restart; "" if it could be, or if no change is known.
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

// Returns the change after which the checkpoint of a step whose save had begun
// by the restart can be loaded then; "" if it could be, or if no change is
// known.
std::string LoadableCheckpoint(const Outline& outline, const Restart& restart,
                               const BegunSave& save) {
  if (save.ending == SaveEnding::kPending) {
    return CompletedSave(outline, restart, save);
  }
  if (save.ending == SaveEnding::kFailed) {
    const std::vector<std::string_view> failing =
        IdsOf(FailingFaults(outline.record, save));
    return failing.empty()
               ? ""
               : fmt::format("remove {}, which made the save of step {} fail",
                             NamedFaults(failing), save.step);
  }
  return UndamagedCheckpoint(outline, restart, save.step);
}

// Returns the change after which an older step is resumed from: the fault ends
// the workers before the save of the step that was found.
std::string OlderResume(const Restart& restart, uint64_t found,
                        uint64_t expected) {
  if (restart.ending == nullptr) return "";
  const RecordFault& fault = *restart.ending;
  const std::string moved =
      !fault.step || fault.in_save
          ? fmt::format("move fault {}", fault.id)
          : MovedTo(fault, expected == 0 ? 0 : expected + 1, found);
  return fmt::format("{}, so that it comes before the save of step {}", moved,
                     found);
}

// The generation that recomputed the most steps.
struct MostRecomputed {
  RecomputedSteps steps;
  Restart restart;
  bool from_memory = false;
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
                  event.kind == RecordKind::kCarriedOn ||
                  event.kind == RecordKind::kInitialized);
        });
    if (start == nullptr) continue;
    return MostRecomputed{.steps = *generation.recomputed,
                          .restart = RestartAt(outline, *start),
                          .from_memory = generation.carried_on.has_value()};
  }
  return std::nullopt;
}

// Returns the change after which the workers could resume from a newer save
// that had begun, so that they recompute at most `most` steps.
std::string NewerSave(const Outline& outline, const MostRecomputed& found,
                      uint64_t most) {
  for (const BegunSave& save :
       SavesBegunBy(outline.record, found.restart.start)) {
    if (save.step <= found.steps.from || save.step + most < found.steps.to) {
      continue;
    }
    std::string text = LoadableCheckpoint(outline, found.restart, save);
    if (!text.empty()) return text;
  }
  return "";
}

// Returns "set the step of fault c (9) to 6, so that it comes 0 steps after the
// save of step 5"; "" if the fault is there already, or if its place is not a
// step.
std::string MovedBehindSave(const RunSetup& setup, const Restart& restart,
                            uint64_t most) {
  if (restart.ending == nullptr || setup.async_saves) return "";
  const RecordFault& fault = *restart.ending;
  const uint64_t interval = setup.save_interval_steps;
  if (!fault.step || fault.in_save || *fault.step == 0) return "";
  const uint64_t saved = (*fault.step - 1) / interval * interval;
  if (saved == 0 || saved + 1 + most >= *fault.step) return "";
  return fmt::format(
      "set the step of fault {} ({}) to {}, so that it comes {} after the save "
      "of step {}",
      fault.id, *fault.step, saved + 1 + most, Counted(most, "step"), saved);
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
// the fault ended all workers of a job that rejoins; else "".
std::string SparedWorker(const RunSetup& setup, const MostRecomputed& found) {
  const RecordFault* const fault = found.restart.ending;
  if (!setup.rejoins || found.from_memory || fault == nullptr ||
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
  if (found < expected && interval > 0 && expected % interval != 0) {
    return fmt::format(
        "change checkpoint.every so that step {} is saved (a save is due after "
        "each {} steps)",
        expected, interval);
  }
  const Restart restart = RestartAt(outline, FirstStartAgain(outline));
  if (found > expected) return OlderResume(restart, found, expected);
  for (const BegunSave& save : SavesBegunBy(record, restart.start)) {
    if (save.step == expected) {
      return LoadableCheckpoint(outline, restart, save);
    }
  }
  return MovedAfterSave(record, restart, expected);
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
    texts.push_back(SparedWorker(setup, *found));
  }
  texts.push_back(MoreSaves(setup, most));
  if (found && setup.save_interval_steps > 0) {
    texts.push_back(MovedBehindSave(setup, found->restart, most));
  }
  std::erase(texts, "");
  return fmt::format("{}", fmt::join(texts, ", or "));
}

}  // namespace gauntlet
