#include "harness/run/failure/remedy/end_remedy.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "harness/oracle/history/last_words.h"
#include "harness/oracle/history/training_position.h"
#include "harness/run/failure/history/interruptions.h"
#include "harness/run/failure/history/process_ends.h"
#include "harness/run/failure/history/worker_events.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

// Returns true iff the save is the one at the end of training.
bool IsFinalSave(const RecordEvent& save) {
  return save.path.find("-finished-") != std::string::npos;
}

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
    if (IsFinalSave(event)) {
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

}  // namespace gauntlet
