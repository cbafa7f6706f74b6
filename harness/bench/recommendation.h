// How often to save, by the measured costs and a stated failure rate.
#ifndef GAUNTLET_HARNESS_BENCH_RECOMMENDATION_H_
#define GAUNTLET_HARNESS_BENCH_RECOMMENDATION_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/train/options.h"
#include "harness/bench/checkpoint_result.h"

namespace gauntlet {

struct Recommendation {
  CheckpointConfig config;
  uint64_t steps = 1;  // from save to save, to two digits
  double seconds = 0;  // that they take without saves
  double goodput = 0;  // ExpectedGoodput
};

// The figures from `begin` on that differ from the first in the mode alone.
std::span<const CheckpointFigures> GroupAt(
    std::span<const CheckpointFigures> figures, size_t begin);

// One for each mode whose recovery was measured, of figures that differ in the
// mode alone, those without saves first. `between_failures` is in seconds, the
// mean of the whole job.
std::vector<Recommendation> RecommendationsOf(
    std::span<const CheckpointFigures> group, double between_failures);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_BENCH_RECOMMENDATION_H_
