#include "harness/scenario/save_schedule.h"

#include <algorithm>
#include <numeric>

namespace gauntlet {
namespace {

// Executions in so many steps: they end at multiples of their length, with each
// epoch and with the run.
uint64_t ExecutionsIn(uint64_t steps, uint64_t length, uint64_t epoch) {
  uint64_t ends = steps / length;
  if (epoch != 0) ends += steps / epoch - steps / std::lcm(length, epoch);
  const bool run_ends_one =
      steps % length != 0 && (epoch == 0 || steps % epoch != 0);
  return ends + (run_ends_one ? 1 : 0);
}

// Saves of several multiples of `every` that fall into one execution are one.
uint64_t SavesBySteps(const Case& one, uint64_t steps) {
  const uint64_t every = one.train.checkpoint.trigger.every;
  const uint64_t length = one.train.steps_per_execution;
  if (length <= every) return steps / every;
  const uint64_t executions =
      ExecutionsIn(steps, length, ShapeOfEpoch(one.train.job).steps);
  return std::min(steps / every, executions);
}

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
  // Where the run's end is no moment that the trigger has saved already.
  const auto with_end = [&](uint64_t saves, bool saved) {
    const bool saves_it =
        checkpoint.at_success == AtSuccess::kKeepCheckpoints && !saved;
    return saves + (saves_it ? 1 : 0);
  };
  switch (trigger.unit) {
    case SaveUnit::kNone:
      return with_end(0, false);
    case SaveUnit::kSteps:
      if (!steps) return std::nullopt;
      // Behind an epoch's last step come its evaluation and its end.
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
      // Where epochs cut no execution short, all saves are at multiples of its
      // length. Else one may be at its own step and the next wait to an end.
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

}  // namespace gauntlet
