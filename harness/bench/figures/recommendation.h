// The failure model of measured saves, and recommendations from it: the best
// checkpoint interval for a given failure rate.
#ifndef GAUNTLET_HARNESS_BENCH_FIGURES_RECOMMENDATION_H_
#define GAUNTLET_HARNESS_BENCH_FIGURES_RECOMMENDATION_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "engine/train/options.h"
#include "harness/bench/figures/checkpoint_result.h"
#include "harness/bench/figures/failure_model.h"

namespace gauntlet {

struct Recommendation {
  CheckpointConfig config;
  uint64_t steps = 1;  // from save to save, rounded to two digits
  double seconds = 0;  // time of these steps without saves
  double goodput = 0;  // ExpectedGoodput
};

// Returns the failure model of a configuration's saves. A save costs at least
// its stall, also if noise makes the measured cost smaller. Leaves `downtime`
// at 0, for the caller to set. `average` returns the average of a metric's
// trials: MedianOf or MeanOf.
FailureModel ModelOfSaves(
    const CheckpointFigures& figures, double between_failures,
    const std::function<double(const TrialValues&)>& average);

// Returns the figures from `begin` on that differ only in the save mode.
std::span<const CheckpointFigures> GroupAt(
    std::span<const CheckpointFigures> figures, size_t begin);

// Returns a recommendation for each mode with a measured recovery. REQUIRES:
// the figures differ only in the mode, and those without saves come first.
// `between_failures`: mean time between failures of the whole job, in seconds.
std::vector<Recommendation> RecommendationsOf(
    std::span<const CheckpointFigures> group, double between_failures);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_BENCH_FIGURES_RECOMMENDATION_H_
