#include "engine/model/optimizers/schedule.h"

#include "engine/numerics.h"

namespace gauntlet {
namespace {

// Returns the rate by the schedule alone: `update` counts from the end of the
// warm-up.
float ScheduledRate(const OptimizerSpec& spec, uint64_t update) {
  const ScheduleSpec& schedule = spec.schedule;
  switch (schedule.kind) {
    case ScheduleKind::kConstant:
      return spec.learning_rate;
    case ScheduleKind::kExponentialDecay: {
      const float progress =
          schedule.staircase
              ? numerics::ScheduleProgress(update / schedule.steps, 1)
              : numerics::ScheduleProgress(update, schedule.steps);
      return numerics::ExponentialDecay(spec.learning_rate, schedule.rate,
                                        progress);
    }
    case ScheduleKind::kCosineDecay:
      return numerics::CosineDecay(
          spec.learning_rate, schedule.alpha,
          numerics::ScheduleProgress(update, schedule.steps));
    case ScheduleKind::kPiecewise: {
      size_t piece = 0;
      while (piece < schedule.boundaries.size() &&
             update > schedule.boundaries[piece]) {
        ++piece;
      }
      return schedule.values[piece];
    }
  }
  return spec.learning_rate;
}

}  // namespace

float LearningRate(const OptimizerSpec& spec, uint64_t update) {
  const uint64_t warmup = spec.schedule.warmup;
  if (update >= warmup) return ScheduledRate(spec, update - warmup);
  return numerics::WarmUp(ScheduledRate(spec, 0), update, warmup);
}

}  // namespace gauntlet
