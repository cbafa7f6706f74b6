#include "harness/run/failure/remedy/end_remedy.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "harness/oracle/history/last_words.h"
#include "harness/oracle/history/training_position.h"
#include "harness/record/fault_traits.h"
#include "harness/record/text/named_faults.h"
#include "harness/run/failure/history/begun_saves.h"
#include "harness/run/failure/history/epoch_ends.h"
#include "harness/run/failure/history/interruptions.h"
#include "harness/run/failure/history/process_ends.h"
#include "harness/run/failure/history/worker_events.h"
#include "harness/run/failure/remedy/fault_step.h"
#include "harness/run/failure/remedy/notice_step.h"
#include "harness/run/failure/remedy/permitted_values.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

// Returns the steps of the acknowledged saves, each position once, without the
// save at the end of training.
std::vector<uint64_t> DueSavesOf(const Record& record) {
  std::map<TrainingPosition, uint64_t> due;
  ForEachEvent(record, [&](const RecordEvent& event) {
    if (event.kind == RecordKind::kSaveAcknowledged &&
        !IsFinalSave(record, event)) {
      due[PositionOf(event)] = event.step;
    }
  });
  std::vector<uint64_t> steps;
  steps.reserve(due.size());
  for (const auto& [position, step] : due) steps.push_back(step);
  return steps;
}

// Returns true iff `end` is not empty and `steps` ends with it.
bool EndsWith(const std::vector<uint64_t>& steps,
              const std::vector<uint64_t>& end) {
  return !end.empty() && steps.size() >= end.size() &&
         std::equal(end.begin(), end.end(), steps.end() - end.size());
}

// Returns "checkpoint.keep (5) to 4". Returns "" if `expected` is the present
// value or is not permitted, or if the present value already keeps all saves
// and all are expected.
std::string KeepText(int keep, size_t saves, size_t expected) {
  const bool is_left_out =
      !IsPermitted("checkpoint.keep", expected) ||
      keep == static_cast<int>(expected) ||
      (saves == expected && keep >= static_cast<int>(saves));
  return is_left_out
             ? ""
             : fmt::format("checkpoint.keep ({}) to {}", keep, expected);
}

// Returns "set A, and B" for the settings that are not "".
std::string SettingsText(std::vector<std::string> settings) {
  std::erase(settings, "");
  return settings.empty()
             ? ""
             : fmt::format("set {}", fmt::join(settings, ", and "));
}

// Returns "set job.epochs (2) to 3"; "" if `epochs` is the present value, or is
// not permitted.
std::string EpochsText(const Record& record, uint64_t epochs) {
  return epochs == record.setup.epochs || !IsPermitted("job.epochs", epochs)
             ? ""
             : fmt::format("set job.epochs ({}) to {}", record.setup.epochs,
                           epochs);
}

// Returns the step of the first acknowledged save after the end of the epoch
// whose last step is `end`.
std::optional<uint64_t> FirstSaveAfterEpoch(const Record& record,
                                            uint64_t end) {
  std::optional<uint64_t> first;
  ForEachEvent(record, [&](const RecordEvent& event) {
    if (event.kind == RecordKind::kSaveAcknowledged &&
        PositionOf(event) >= TrainingPosition{.step = end}) {
      first = std::min(event.step, first.value_or(event.step));
    }
  });
  return first;
}

// Returns the change after which the first restart comes before the end of
// `epoch` (counted from 0) at step `end`; "" if the fault already comes before
// it.
std::string RestartBeforeEnd(const RecordFault& fault, uint64_t epoch,
                             uint64_t end) {
  if (fault.step && *fault.step <= end) return "";
  return fmt::format("{}, so that epoch {} ends after the restart",
                     StepAdvice(fault, {.last = end}), epoch + 1);
}

// Returns the change after which the first restart comes after the end of
// `epoch` (counted from 0) at step `end` and after a save of it, but before the
// end of the next epoch at step `next_end`; "" if no such step is known.
std::string RestartAfterEnd(const Record& record, const RecordFault& fault,
                            uint64_t epoch, uint64_t end, uint64_t next_end) {
  const std::optional<uint64_t> save = FirstSaveAfterEpoch(record, end);
  if (!save || *save >= next_end || fault.step > *save) return "";
  return fmt::format(
      "{}, so that it comes after the end of epoch {} and the save of step {}",
      StepAdvice(fault, {.first = *save + 1, .last = next_end}), epoch + 1,
      *save);
}

// Returns the number of steps of an epoch, computed from the first end of an
// epoch in the record; nullopt if no epoch ended.
std::optional<uint64_t> StepsOfEndedEpoch(const Record& record) {
  const std::map<uint64_t, const RecordEvent*> ends = EpochEndsOf(record);
  if (ends.empty()) return std::nullopt;
  const auto& [epoch, end] = *ends.begin();
  if (end->step == 0 || end->step % (epoch + 1) != 0) return std::nullopt;
  return end->step / (epoch + 1);
}

// Returns the number of steps of an epoch; nullopt if the run shows none.
std::optional<uint64_t> StepsPerEpoch(const Record& record) {
  if (const std::optional<uint64_t> steps = StepsOfEndedEpoch(record)) {
    return steps;
  }
  const uint64_t epochs = record.setup.epochs;
  const uint64_t steps = record.launchers.back().result->steps;
  if (MaxStepsOfEnd(record) || epochs == 0 || steps == 0 ||
      steps % epochs != 0) {
    return std::nullopt;
  }
  return steps / epochs;
}

// Returns "job.max_steps (9) to 12", or "job.max_steps to 12" if the present
// value is not known.
std::string MaxStepsText(std::optional<uint64_t> present, uint64_t steps) {
  return present ? fmt::format("job.max_steps ({}) to {}", *present, steps)
                 : fmt::format("job.max_steps to {}", steps);
}

// Returns the change after which training ends at `expected`, a later step; ""
// if no permitted number of epochs reaches this step.
std::string LaterEnd(const Record& record, uint64_t expected) {
  const uint64_t epochs = record.setup.epochs;
  const std::optional<uint64_t> max_steps = MaxStepsOfEnd(record);
  const std::optional<uint64_t> per_epoch = StepsPerEpoch(record);
  if (!per_epoch) {
    return max_steps ? fmt::format(
                           "set {}, and raise job.epochs ({}) if they end "
                           "before step {}",
                           MaxStepsText(max_steps, expected), epochs, expected)
                     : fmt::format("change job.epochs ({})", epochs);
  }
  const uint64_t needed = (expected + *per_epoch - 1) / *per_epoch;
  std::vector<std::string> settings;
  if (!IsPermitted("job.epochs", needed)) return "";
  if (needed > epochs) {
    settings.push_back(fmt::format("job.epochs ({}) to {}", epochs, needed));
  }
  if (max_steps || expected % *per_epoch != 0) {
    settings.push_back(MaxStepsText(max_steps, expected));
  }
  return settings.empty() ? fmt::format("change job.epochs ({})", epochs)
                          : fmt::format("set {}", fmt::join(settings, " and "));
}

// Returns "remove fault e, which made the save of step 20 fail".
// REQUIRES: saves is not empty.
std::string RemoveFailingFaults(const Record& record,
                                const std::vector<BegunSave>& saves) {
  std::set<uint64_t> steps;
  std::vector<const RecordFault*> faults;
  for (const BegunSave& save : saves) {
    steps.insert(save.step);
    for (const RecordFault* const fault : FailingFaults(record, save)) {
      if (std::ranges::find(faults, fault) == faults.end()) {
        faults.push_back(fault);
      }
    }
  }
  return fmt::format("remove {}, which made {} fail", NamedFaults(faults),
                     SavesText(steps));
}

// Returns true iff the run leaves the expected checkpoints after saves of these
// steps, in this order.
bool Leaves(const Record& record, const std::vector<uint64_t>& saves) {
  const std::vector<uint64_t>& expected = *record.expect.checkpoints_left;
  const size_t keep = static_cast<size_t>(record.setup.keep);
  return expected.size() == std::min(keep, saves.size()) &&
         EndsWith(saves, expected);
}

// Returns "checkpoint.on_success to leave, so that step 36 is not saved".
// REQUIRES: the last launcher has a result. `due_saves`: steps of the saves,
// without that at the end of training.
std::string NoFinalSaveText(const Record& record,
                            const std::vector<uint64_t>& due_saves) {
  const uint64_t end = record.launchers.back().result->steps;
  const bool is_twice = !due_saves.empty() && due_saves.back() == end;
  return fmt::format("checkpoint.on_success to leave, so that step {} is {}",
                     end, is_twice ? "saved only once" : "not saved");
}

// Returns the change that moves the failure to another save, so that the run
// leaves the expected checkpoints: "set the save of fault e (2) to 3, so that
// …"; "" if there is none. `saves`: steps of all saves, including the failed
// one.
std::string MovedFailure(const Record& record, const BegunSave& failed,
                         const std::vector<uint64_t>& saves) {
  const std::vector<const RecordFault*> faults = FailingFaults(record, failed);
  const uint64_t interval = record.setup.save_interval_steps;
  // The number of a save counts from the start of its incarnation.
  const bool has_restarted = std::ranges::any_of(
      record.incarnations,
      [](const IncarnationEvents& one) { return one.number > 1; });
  if (faults.size() != 1 || !faults[0]->save || interval == 0 ||
      has_restarted) {
    return "";
  }
  for (const uint64_t step : saves) {
    std::vector<uint64_t> others = saves;
    std::erase(others, step);
    if (step % interval != 0 || !Leaves(record, others)) continue;
    return fmt::format(
        "set the save of fault {} ({}) to {}, so that the save of step {} "
        "fails instead of that of step {}",
        faults[0]->id, *faults[0]->save,
        *faults[0]->save + step / interval - failed.step / interval, step,
        failed.step);
  }
  return "";
}

// Returns the change for a completed run whose expected checkpoints are missing
// because saves failed; "" for other runs.
std::string FailedCheckpointsRemedy(const Record& record,
                                    std::vector<uint64_t> due_saves) {
  const std::vector<BegunSave> failed = SavesFailedByFaults(record);
  if (failed.empty() || record.setup.delete_at_success) return "";
  for (const BegunSave& save : failed) due_saves.push_back(save.step);
  std::ranges::sort(due_saves);
  const bool has_final = HasFinalSave(record);
  std::vector<uint64_t> saves = due_saves;
  if (has_final) saves.push_back(record.launchers.back().result->steps);
  if (Leaves(record, saves)) return RemoveFailingFaults(record, failed);
  if (has_final && Leaves(record, due_saves)) {
    return fmt::format("{}, and set {}", RemoveFailingFaults(record, failed),
                       NoFinalSaveText(record, due_saves));
  }
  return failed.size() == 1 ? MovedFailure(record, failed[0], saves) : "";
}

// Advice if the expected number of saves needs the save at the end of training
// and the expected checkpoints exclude it, or the reverse.
constexpr std::string_view kSavesOrCheckpoints =
    "change the expectation of saves or of checkpoints, as they exclude each "
    "other: one needs the save at the end of training (checkpoint.on_success: "
    "keep), and the other excludes it (leave)";

// Returns true iff the run leaves the expected checkpoints as it is, but not if
// checkpoint.on_success changes: with the save at the end of training, if it
// has none, or else without it.
bool ChangeLosesCheckpoints(const Record& record,
                            const std::vector<uint64_t>& due_saves) {
  if (!record.expect.checkpoints_left) return false;
  std::vector<uint64_t> with_final = due_saves;
  with_final.push_back(record.launchers.back().result->steps);
  const bool has_final = HasFinalSave(record);
  return Leaves(record, has_final ? with_final : due_saves) &&
         !Leaves(record, has_final ? due_saves : with_final);
}

// Returns the change after which a run that stopped on a notice leaves the
// expected checkpoints: it stops at the last one of them. "" if no such step is
// known.
std::string StopAtCheckpointRemedy(const Outline& outline) {
  const Record& record = outline.record;
  const RunSetup& setup = record.setup;
  const std::vector<uint64_t>& expected = *record.expect.checkpoints_left;
  const RecordFault* const notice = NoticeOfStop(outline);
  if (notice == nullptr || expected.empty() || setup.keep <= 0 ||
      setup.save_interval_steps == 0 || record.launchers.size() > 1) {
    return "";
  }
  const uint64_t last = expected.back();
  std::vector<uint64_t> saves;
  const uint64_t interval = setup.save_interval_steps;
  for (uint64_t step = interval; step < last; step += interval) {
    saves.push_back(step);
  }
  saves.push_back(last);
  return Leaves(record, saves)
             ? SaveAtStopAdvice(record, *notice,
                                record.launchers.back().result->steps, last)
             : "";
}

}  // namespace

const RecordFault* NoticeOfStop(const Outline& outline) {
  const Record& record = outline.record;
  if (record.launchers.empty()) return nullptr;
  const std::optional<FinalResult>& result = record.launchers.back().result;
  const std::vector<Interruption> all = InterruptionsOf(outline);
  if (!result || result->status != "stopped" || all.empty() ||
      all.back().faults.size() != 1) {
    return nullptr;
  }
  const RecordFault* const fault = *all.back().faults.begin();
  return TraitsOf(*fault).gives_notice ? fault : nullptr;
}

std::string SaveScheduleRemedy(const Outline& outline) {
  const RunSetup& setup = outline.record.setup;
  if (setup.save_interval_steps > 0) {
    return fmt::format(
        "change checkpoint.every ({} steps) or job.epochs ({}), which set when "
        "saves are due",
        setup.save_interval_steps, setup.epochs);
  }
  return fmt::format(
      "change checkpoint.every or job.epochs ({}), which set when saves are "
      "due",
      setup.epochs);
}

std::string SavesRemedy(const Outline& outline, uint64_t expected) {
  const Record& record = outline.record;
  const uint64_t every = record.setup.save_interval_steps;
  const std::vector<uint64_t> due_saves = DueSavesOf(record);
  const bool has_final = HasFinalSave(record);
  uint64_t found = 0;
  for (const Generation& generation : outline.generations) {
    found += generation.saves.size();
  }
  if (!IsDone(record) || every == 0) return SaveScheduleRemedy(outline);
  const uint64_t end = record.launchers.back().result->steps;
  const uint64_t final = has_final ? 1 : 0;
  // Each due save was made once, and nothing else was saved.
  const bool is_regular =
      due_saves.size() == end / every && found == due_saves.size() + final;
  if (const std::vector<BegunSave> failed = SavesFailedByFaults(record);
      !failed.empty() && expected == found + failed.size()) {
    return RemoveFailingFaults(record, failed);
  }
  if (!is_regular || expected == 0) return SaveScheduleRemedy(outline);
  const bool loses_checkpoints = ChangeLosesCheckpoints(record, due_saves);
  if (has_final && expected + 1 == found) {
    return loses_checkpoints ? std::string(kSavesOrCheckpoints)
                             : "set " + NoFinalSaveText(record, due_saves);
  }
  if (!has_final && expected == found + 1) {
    return loses_checkpoints
               ? std::string(kSavesOrCheckpoints)
               : "set checkpoint.on_success to keep, so that the end of "
                 "training is saved, too";
  }
  if (expected <= final) return SaveScheduleRemedy(outline);
  const uint64_t due = expected - final;
  const uint64_t interval = due > end ? 0 : end / due;
  if (interval == 0 || end / interval != due) {
    return SaveScheduleRemedy(outline);
  }
  return fmt::format("set checkpoint.every ({} steps) to {{steps: {}}}", every,
                     interval);
}

std::string CheckpointsRemedy(const Outline& outline) {
  const Record& record = outline.record;
  const RunSetup& setup = record.setup;
  const std::vector<uint64_t> expected =
      record.expect.checkpoints_left.value_or(std::vector<uint64_t>());
  const std::vector<uint64_t> due_saves = DueSavesOf(record);
  const bool has_final = HasFinalSave(record);
  if (IsDone(record) && expected.empty() && !setup.delete_at_success) {
    return "set checkpoint.on_success to delete";
  }
  if (!record.expect.checkpoints_left) return SaveScheduleRemedy(outline);
  if (std::string text = StopAtCheckpointRemedy(outline); !text.empty()) {
    return text;
  }
  if (!IsDone(record) || setup.keep <= 0) return SaveScheduleRemedy(outline);
  if (std::string text = FailedCheckpointsRemedy(record, due_saves);
      !text.empty()) {
    return text;
  }
  const uint64_t end = record.launchers.back().result->steps;
  std::vector<uint64_t> with_final = due_saves;
  with_final.push_back(end);
  if (EndsWith(with_final, expected)) {
    const std::string text = SettingsText(
        {has_final ? "" : "checkpoint.on_success to keep",
         KeepText(setup.keep, with_final.size(), expected.size())});
    if (!text.empty()) return text;
  }
  if (EndsWith(due_saves, expected)) {
    const std::optional<uint64_t> saves = record.expect.saves_exactly;
    if (has_final && saves == due_saves.size() + 1) {
      return std::string(kSavesOrCheckpoints);
    }
    const bool is_left = !has_final && !setup.delete_at_success;
    const std::string final_text =
        is_left ? "" : NoFinalSaveText(record, due_saves);
    const std::string text = SettingsText(
        {final_text, KeepText(setup.keep, due_saves.size(), expected.size())});
    if (!text.empty()) return text;
  }
  return SaveScheduleRemedy(outline);
}

std::string LastStepRemedy(const Outline& outline) {
  const Record& record = outline.record;
  const Expectation& expect = record.expect;
  const uint64_t steps = record.launchers.back().result->steps;
  const std::optional<uint64_t> max_steps = MaxStepsOfEnd(record);
  if (expect.ends_at_epoch &&
      *expect.ends_at_epoch != record.launchers.back().result->epochs) {
    const std::string epochs = EpochsText(record, *expect.ends_at_epoch);
    if (!max_steps) return epochs;
    return fmt::format("remove job.max_steps ({}){}{}", *max_steps,
                       epochs.empty() ? "" : " and ", epochs);
  }
  const uint64_t expected = expect.ends_at_step.value_or(steps);
  if (expected == steps || expected == 0) return "";
  return expected < steps
             ? fmt::format("set {}", MaxStepsText(max_steps, expected))
             : LaterEnd(record, expected);
}

std::string StopStepRemedy(const Outline& outline) {
  const Record& record = outline.record;
  const Expectation& expect = record.expect;
  const RecordFault* const notice = NoticeOfStop(outline);
  if (notice == nullptr) return "";
  StepRange steps;
  if (expect.ends_at_step) {
    steps = {.first = *expect.ends_at_step, .last = *expect.ends_at_step};
  } else if (expect.ends_at_epoch) {
    const std::optional<uint64_t> per_epoch = StepsOfEndedEpoch(record);
    // A stop at the last step of an epoch may come before or after its end.
    if (!per_epoch || *per_epoch < 2 ||
        !IsPermitted("job.epochs", *expect.ends_at_epoch + 1)) {
      return "";
    }
    steps.first = *expect.ends_at_epoch * *per_epoch + 1;
    steps.last = steps.first + *per_epoch - 2;
  }
  return StopAdvice(record, *notice, record.launchers.back().result->steps,
                    steps);
}

std::string EpochsAfterRestartRemedy(const Outline& outline,
                                     const RecordFault& fault,
                                     uint64_t expected) {
  const Record& record = outline.record;
  const std::map<uint64_t, const RecordEvent*> ends = EpochEndsOf(record);
  std::set<uint64_t> found;
  for (const Generation& generation : outline.generations) {
    if (&generation == &outline.generations.front()) continue;
    found.insert(generation.epochs.begin(), generation.epochs.end());
  }
  const uint64_t epochs = record.setup.epochs;
  if (!IsDone(record) || ends.size() != epochs || found.size() == expected) {
    return "";
  }
  if (expected > epochs) {
    return EpochsText(record, epochs + expected - found.size());
  }
  if (expected > found.size()) {
    const uint64_t epoch = epochs - expected;
    return RestartBeforeEnd(fault, epoch, ends.at(epoch)->step);
  }
  if (expected == 0) return "";
  const uint64_t next = epochs - expected;
  return next == 0
             ? ""
             : RestartAfterEnd(record, fault, next - 1, ends.at(next - 1)->step,
                               ends.at(next)->step);
}

}  // namespace gauntlet
