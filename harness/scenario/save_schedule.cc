#include "harness/scenario/save_schedule.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace gauntlet {
namespace {

// Returns the number of executions in `steps` steps, of at most `length` steps
// each. An execution ends at each multiple of `length`, at the end of each
// epoch and at the end of the run.
uint64_t ExecutionsIn(uint64_t steps, uint64_t length, uint64_t epoch) {
  uint64_t ends = steps / length;
  if (epoch != 0) ends += steps / epoch - steps / std::lcm(length, epoch);
  const bool run_ends_one =
      steps % length != 0 && (epoch == 0 || steps % epoch != 0);
  return ends + (run_ends_one ? 1 : 0);
}

// Returns the number of saves that the trigger causes. An execution with
// several multiples of `every` causes a single save, at its end.
uint64_t SavesBySteps(const Case& one, uint64_t steps) {
  const uint64_t every = one.train.checkpoint.trigger.every;
  const uint64_t length = one.train.steps_per_execution;
  if (length <= every) return steps / every;
  const uint64_t executions =
      ExecutionsIn(steps, length, ShapeOfEpoch(one.train.job).steps);
  return std::min(steps / every, executions);
}

// The steps after which a run of known length saves, by its trigger and at its
// end.
class SaveSteps {
 public:
  // `every`: steps between two due saves; 0: no save is due.
  SaveSteps(const Case& one, uint64_t every, uint64_t total)
      : every_(every),
        length_(one.train.steps_per_execution),
        epoch_(ShapeOfEpoch(one.train.job).steps),
        total_(total),
        saves_end_(one.train.checkpoint.at_success ==
                   AtSuccess::kSaveFinalState) {}

  std::optional<uint64_t> AtOrBefore(uint64_t step) const {
    if (step >= total_ && saves_end_) return total_;
    if (every_ == 0) return std::nullopt;
    uint64_t due = std::min(step, total_) / every_;
    while (due > 0 && SavedAt(due) > step) --due;
    if (due == 0) return std::nullopt;
    return SavedAt(due);
  }

  std::optional<uint64_t> After(uint64_t step) const {
    if (step >= total_) return std::nullopt;
    if (every_ != 0) {
      uint64_t due = step / every_;
      if (due == 0 || SavedAt(due) <= step) ++due;
      if (due <= total_ / every_) return SavedAt(due);
    }
    if (!saves_end_) return std::nullopt;
    return total_;
  }

 private:
  // Returns the step at which save number `due` is made: the end of the
  // execution in which this save is due.
  uint64_t SavedAt(uint64_t due) const {
    const uint64_t step = due * every_;
    const auto next_multiple = [step](uint64_t of) {
      return (step + of - 1) / of * of;
    };
    return std::min({next_multiple(length_), next_multiple(epoch_), total_});
  }

  uint64_t every_;
  uint64_t length_;
  uint64_t epoch_;
  uint64_t total_;
  bool saves_end_;
};

}  // namespace

std::optional<uint64_t> TotalSteps(const Case& one) {
  const Horizon& horizon = one.train.horizon;
  const uint64_t an_epoch = ShapeOfEpoch(one.train.job).steps;
  if (an_epoch == 0) return horizon.max_steps;
  const uint64_t steps = an_epoch * horizon.epochs;
  return std::min(steps, horizon.max_steps.value_or(steps));
}

std::optional<uint64_t> ScheduledSaves(const Case& one) {
  const CheckpointOptions& checkpoint = one.train.checkpoint;
  const SaveTrigger& trigger = checkpoint.trigger;
  const std::optional<uint64_t> steps = TotalSteps(one);
  const uint64_t an_epoch = ShapeOfEpoch(one.train.job).steps;
  const bool known = steps && an_epoch != 0;
  if (one.store == StoreChoice::kNone) return 0;
  // Adds the save at the end of the run, unless the trigger causes a save of
  // the same state.
  const auto with_end = [&](uint64_t saves, bool saved) {
    const bool saves_it =
        checkpoint.at_success == AtSuccess::kSaveFinalState && !saved;
    return saves + (saves_it ? 1 : 0);
  };
  switch (trigger.unit) {
    case SaveUnit::kNone:
      return with_end(0, false);
    case SaveUnit::kSteps:
      if (!steps) return std::nullopt;
      // If the run ends with an epoch, the trigger's save after the last step
      // does not replace the final save: the evaluation and the end of the
      // epoch come between them.
      return with_end(
          SavesBySteps(one, *steps),
          known && *steps % an_epoch != 0 && *steps % trigger.every == 0);
    case SaveUnit::kEpochs: {
      if (!known)
        return with_end(one.train.horizon.epochs / trigger.every, false);
      const uint64_t interval = an_epoch * trigger.every;
      return with_end(*steps / interval, *steps % interval == 0);
    }
    case SaveUnit::kSeconds:
      return std::nullopt;
  }
  return std::nullopt;
}

uint64_t SaveIntervalSteps(const Case& one) {
  if (one.store == StoreChoice::kNone) return 0;
  const SaveTrigger& trigger = one.train.checkpoint.trigger;
  const uint64_t length = one.train.steps_per_execution;
  const uint64_t an_epoch = ShapeOfEpoch(one.train.job).steps;
  switch (trigger.unit) {
    case SaveUnit::kSteps: {
      if (trigger.every % length == 0) return trigger.every;
      // If each epoch has only whole executions, all saves are at multiples of
      // `length`. Otherwise one save may be made at the step at which it is
      // due, and the next one may have to wait for the end of an execution.
      const bool whole = an_epoch != 0 && an_epoch % length == 0;
      return whole ? (trigger.every / length + 1) * length
                   : trigger.every + length - 1;
    }
    case SaveUnit::kEpochs:
      return trigger.every * an_epoch;
    case SaveUnit::kSeconds:
    case SaveUnit::kNone:
      return 0;
  }
  return 0;
}

std::optional<NearestSaves> SavesNextTo(const Case& one, uint64_t step) {
  const SaveTrigger& trigger = one.train.checkpoint.trigger;
  const uint64_t an_epoch = ShapeOfEpoch(one.train.job).steps;
  const std::optional<uint64_t> total = TotalSteps(one);
  const bool known = an_epoch != 0 && total && one.launches.empty();
  if (!known || trigger.unit == SaveUnit::kSeconds) return std::nullopt;
  uint64_t every = 0;
  if (trigger.unit == SaveUnit::kSteps) every = trigger.every;
  if (trigger.unit == SaveUnit::kEpochs) every = trigger.every * an_epoch;
  const SaveSteps saves(one, every, *total);
  return NearestSaves{.at_or_before = saves.AtOrBefore(step),
                      .after = saves.After(step)};
}

std::string NearestSavesText(const NearestSaves& nearest) {
  const auto& [before, after] = nearest;
  if (before && after) {
    return fmt::format("the nearest saves are at steps {} and {}", *before,
                       *after);
  }
  if (before) return fmt::format("the last save is at step {}", *before);
  if (after) return fmt::format("the first save is at step {}", *after);
  return "the run makes no save";
}

std::string NearestSavesHint(const NearestSaves& nearest) {
  const auto& [before, after] = nearest;
  if (before && after) {
    return fmt::format("step: {}, or step: {}", *before, *after);
  }
  if (before) return fmt::format("step: {}", *before);
  return after ? fmt::format("step: {}", *after) : "";
}

}  // namespace gauntlet
