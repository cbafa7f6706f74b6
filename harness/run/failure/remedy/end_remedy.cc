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
#include "harness/run/failure/history/begun_saves.h"
#include "harness/run/failure/history/epoch_ends.h"
#include "harness/run/failure/history/interruptions.h"
#include "harness/run/failure/history/process_ends.h"
#include "harness/run/failure/history/worker_events.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

// The acknowledged saves of a run, each position once.
struct Saves {
  std::vector<uint64_t> due = {};  // steps, without the save at the end
  bool has_final = false;          // the end of training was saved, too
};

Saves CollectSaves(const Record& record) {
  Saves saves;
  std::map<TrainingPosition, uint64_t> due;
  ForEachEvent(record, [&](const RecordEvent& event) {
    if (event.kind != RecordKind::kSaveAcknowledged) return;
    if (IsSaveOfTheEnd(record, event)) {
      saves.has_final = true;
    } else {
      due[PositionOf(event)] = event.step;
    }
  });
  for (const auto& [position, step] : due) saves.due.push_back(step);
  return saves;
}

// Returns true iff the newest of these steps are those.
bool EndsWith(const std::vector<uint64_t>& steps,
              const std::vector<uint64_t>& end) {
  return !end.empty() && steps.size() >= end.size() &&
         std::equal(end.begin(), end.end(), steps.end() - end.size());
}

// Returns "checkpoint.keep (5) to 4"; "" if that is the present value, or if
// the run has too few saves for retention to remove one.
std::string KeepText(int keep, size_t saves, size_t expected) {
  const bool is_met = keep == static_cast<int>(expected) ||
                      (saves == expected && keep >= static_cast<int>(saves));
  return is_met ? ""
                : fmt::format("checkpoint.keep ({}) to {}", keep, expected);
}

// Returns "set A, and B" for the settings that are not "".
std::string SettingsText(std::vector<std::string> settings) {
  std::erase(settings, "");
  return settings.empty()
             ? ""
             : fmt::format("set {}", fmt::join(settings, ", and "));
}

// Returns "set job.epochs (2) to 3"; "" if that is the present value.
std::string EpochsText(const Record& record, uint64_t epochs) {
  return epochs == record.setup.epochs
             ? ""
             : fmt::format("set job.epochs ({}) to {}", record.setup.epochs,
                           epochs);
}

// Returns the step of the first acknowledged save of a state after the epoch
// that ended at that step.
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

// Returns "set the step of fault c (14) to 12 or earlier", or, for a fault
// without a step, "let fault c come in step 12 or earlier".
std::string StepOfFaultText(const RecordFault& fault,
                            const std::string& value) {
  return fault.step && !fault.in_save
             ? fmt::format("set the step of fault {} ({}) to {}", fault.id,
                           *fault.step, value)
             : fmt::format("let fault {} come in step {}", fault.id, value);
}

// Returns the change after which the first restart comes before the end of that
// epoch, counted from 0; "" if the fault already comes before it.
std::string RestartBeforeEnd(const RecordFault& fault, uint64_t epoch,
                             uint64_t end) {
  if (fault.step && *fault.step <= end) return "";
  return fmt::format("{}, so that epoch {} ends after the restart",
                     StepOfFaultText(fault, fmt::format("{} or earlier", end)),
                     epoch + 1);
}

// Returns the change after which that epoch, counted from 0, has ended and is
// saved before the first restart, and the next one, which ends at `next_end`,
// has not ended; "" if no such step is known.
std::string RestartAfterEnd(const Record& record, const RecordFault& fault,
                            uint64_t epoch, uint64_t end, uint64_t next_end) {
  const std::optional<uint64_t> save = FirstSaveAfterEpoch(record, end);
  if (!save || *save >= next_end || fault.step > *save) return "";
  const std::string value =
      *save + 1 == next_end
          ? fmt::to_string(next_end)
          : fmt::format("a value from {} to {}", *save + 1, next_end);
  return fmt::format(
      "{}, so that it comes after the end of epoch {} and the save of step {}",
      StepOfFaultText(fault, value), epoch + 1, *save);
}

}  // namespace

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
  const Saves saves = CollectSaves(record);
  uint64_t found = 0;
  for (const Generation& generation : outline.generations) {
    found += generation.saves.size();
  }
  if (!IsDone(record) || every == 0) return SaveScheduleRemedy(outline);
  const uint64_t end = record.launchers.back().result->steps;
  const uint64_t final = saves.has_final ? 1 : 0;
  // Each due save was made once, and nothing else was saved.
  const bool is_regular =
      saves.due.size() == end / every && found == saves.due.size() + final;
  if (!is_regular || expected == 0) return SaveScheduleRemedy(outline);
  if (saves.has_final && expected + 1 == found) {
    return fmt::format(
        "set checkpoint.on_success to leave, so that step {} is {}", end,
        end % every == 0 ? "saved only once" : "not saved");
  }
  if (!saves.has_final && expected == found + 1) {
    return "set checkpoint.on_success to keep, so that the end of training is "
           "saved, too";
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
  const Saves saves = CollectSaves(record);
  if (IsDone(record) && expected.empty() && !setup.delete_at_success) {
    return "set checkpoint.on_success to delete";
  }
  if (!IsDone(record) || setup.keep <= 0) return SaveScheduleRemedy(outline);
  const uint64_t end = record.launchers.back().result->steps;
  std::vector<uint64_t> with_final = saves.due;
  with_final.push_back(end);
  if (EndsWith(with_final, expected)) {
    const std::string text = SettingsText(
        {saves.has_final ? "" : "checkpoint.on_success to keep",
         KeepText(setup.keep, with_final.size(), expected.size())});
    if (!text.empty()) return text;
  }
  if (EndsWith(saves.due, expected)) {
    const bool is_twice = saves.due.back() == end;
    const std::string final_text =
        !saves.has_final && !setup.delete_at_success ? ""
        : is_twice                                   ? fmt::format(
                                                           "checkpoint.on_success to leave, so that step {} is "
                                                                                             "saved only once",
                                                           end)
                   : fmt::format(
                         "checkpoint.on_success to leave, so that step {} is "
                         "not saved",
                         end);
    const std::string text = SettingsText(
        {final_text, KeepText(setup.keep, saves.due.size(), expected.size())});
    if (!text.empty()) return text;
  }
  return SaveScheduleRemedy(outline);
}

std::string LastStepRemedy(const Outline& outline) {
  const Record& record = outline.record;
  const Expectation& expect = record.expect;
  const uint64_t steps = record.launchers.back().result->steps;
  const std::optional<uint64_t> max_steps = MaxStepsOfEnd(record);
  if (expect.ends_at_epoch) {
    const std::string epochs = EpochsText(record, *expect.ends_at_epoch);
    if (!max_steps) return epochs;
    return fmt::format("remove job.max_steps ({}){}{}", *max_steps,
                       epochs.empty() ? "" : " and ", epochs);
  }
  const uint64_t expected = expect.ends_at_step.value_or(steps);
  if (expected < steps || max_steps) {
    return max_steps ? fmt::format("set job.max_steps ({}) to {}", *max_steps,
                                   expected)
                     : fmt::format("set job.max_steps to {}", expected);
  }
  const uint64_t epochs = record.setup.epochs;
  if (epochs == 0 || steps % epochs != 0) {
    return fmt::format("change job.epochs ({})", epochs);
  }
  const uint64_t per_epoch = steps / epochs;
  const uint64_t needed = (expected + per_epoch - 1) / per_epoch;
  return fmt::format("{}{}", EpochsText(record, needed),
                     expected % per_epoch == 0
                         ? ""
                         : fmt::format(" and job.max_steps to {}", expected));
}

std::string StopStepRemedy(const Outline& outline) {
  const Record& record = outline.record;
  const std::optional<uint64_t> expected = record.expect.ends_at_step;
  if (!expected || record.launchers.empty()) return "";
  const LauncherRun& last = record.launchers.back();
  const std::vector<Interruption> all = InterruptionsOf(outline);
  if (!last.result || last.result->status != "stopped" || all.empty() ||
      all.back().faults.size() != 1) {
    return "";
  }
  const RecordFault& fault = **all.back().faults.begin();
  const uint64_t found = last.result->steps;
  if (!fault.step || fault.in_save || *fault.step + *expected <= found) {
    return "";
  }
  return fmt::format("set the step of fault {} ({}) to {}", fault.id,
                     *fault.step, *fault.step + *expected - found);
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
    return fmt::format("set job.epochs ({}) to {}", epochs,
                       epochs + expected - found.size());
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
