#include "harness/bench/figures/recommendation.h"

#include <algorithm>
#include <cmath>

#include "harness/bench/figures/statistics.h"

namespace gauntlet {
namespace {

FailureModel MedianModel(const CheckpointFigures& figures,
                         double between_failures) {
  const auto median = [&figures](Metric metric) {
    return std::max(0.0, MedianOf(figures.of(metric)));
  };
  FailureModel model = ModelOfSaves(figures, between_failures, MedianOf);
  model.downtime =
      std::max(0.0, median(Metric::kRecovery) - median(Metric::kRecompute));
  return model;
}

// Rounds up to two significant digits, the precision of a measured cost.
uint64_t RoundedSteps(double steps) {
  const double least = std::max(1.0, std::ceil(steps));
  const double unit =
      std::pow(10.0, std::max(0.0, std::floor(std::log10(least)) - 1));
  return static_cast<uint64_t>(std::ceil(least / unit) * unit);
}

}  // namespace

FailureModel ModelOfSaves(
    const CheckpointFigures& figures, double between_failures,
    const std::function<double(const TrialValues&)>& average) {
  const double stall = average(figures.of(Metric::kStall));
  return {.between_failures = between_failures,
          .save_cost = std::max(stall, average(figures.of(Metric::kCost))),
          .durable_after =
              std::max(0.0, average(figures.of(Metric::kDurable)) - stall)};
}

std::span<const CheckpointFigures> GroupAt(
    std::span<const CheckpointFigures> figures, size_t begin) {
  size_t end = begin;
  for (; end < figures.size(); ++end) {
    CheckpointConfig config = figures[end].config;
    config.mode = figures[begin].config.mode;
    if (config != figures[begin].config) break;
  }
  return figures.subspan(begin, end - begin);
}

std::vector<Recommendation> RecommendationsOf(
    std::span<const CheckpointFigures> group, double between_failures) {
  std::vector<Recommendation> all;
  const TrialValues& base = group.front().of(Metric::kStep);
  if (base.empty() || group.front().config.mode) return all;
  const double step = MedianOf(base);
  for (const CheckpointFigures& figures : group) {
    if (figures.of(Metric::kRecovery).empty() ||
        figures.of(Metric::kDurable).empty()) {
      continue;
    }
    const FailureModel model = MedianModel(figures, between_failures);
    // Saves must not follow each other faster than a save becomes durable.
    const double least = std::max(step, MedianOf(figures.of(Metric::kDurable)));
    const double best = BestInterval(model, least);
    const uint64_t steps = RoundedSteps(best / step);
    const double seconds = static_cast<double>(steps) * step;
    all.push_back({.config = figures.config,
                   .steps = steps,
                   .seconds = seconds,
                   .goodput = ExpectedGoodput(model, seconds)});
  }
  return all;
}

}  // namespace gauntlet
