// Part of engine/numerics.h: learning rates as functions of the update.
//
// Updates are counted from 0. A count becomes a float by rounding to nearest.
#ifndef GAUNTLET_ENGINE_NUMERICS_NUMERICS_SCHEDULE_H_
#define GAUNTLET_ENGINE_NUMERICS_NUMERICS_SCHEDULE_H_

#include <cstdint>

#include "engine/numerics/numerics_math.h"

namespace gauntlet::numerics {

// update / steps, one division. REQUIRES: steps > 0.
GAUNTLET_NUMERIC float ScheduleProgress(uint64_t update, uint64_t steps) {
  return static_cast<float>(update) / static_cast<float>(steps);
}

// initial * decay^progress, the power as e^(progress * ln(decay)).
GAUNTLET_NUMERIC float ExponentialDecay(float initial, float decay,
                                        float progress) {
  return initial * Exp(progress * Log(decay));
}

// Falls from initial at progress 0 along half a cosine to alpha * initial at 1,
// and stays there: ((1 - alpha) * (1 + cos(pi * progress)) / 2 + alpha) *
// initial. The multiplication by 1/2 is exact.
GAUNTLET_NUMERIC float CosineDecay(float initial, float alpha, float progress) {
  const float end = progress < 1.0f ? progress : 1.0f;
  const float cosine = 0.5f * (1.0f + CosPi(end));
  return initial * Fma(1.0f - alpha, cosine, alpha);
}

// Returns the rate of update `update` of a linear warm-up: rate / updates at
// the first update, rate at the last. REQUIRES: update < updates.
GAUNTLET_NUMERIC float WarmUp(float rate, uint64_t update, uint64_t updates) {
  return rate * ScheduleProgress(update + 1, updates);
}

}  // namespace gauntlet::numerics

#endif  // GAUNTLET_ENGINE_NUMERICS_NUMERICS_SCHEDULE_H_
