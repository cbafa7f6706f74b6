#include "harness/bench/figures/failure_model.h"

#include <algorithm>
#include <cmath>

namespace gauntlet {

double ExpectedGoodput(const FailureModel& model, double interval) {
  const double mean = model.between_failures;
  // A failure costs the downtime and the steps since the newest durable
  // snapshot. Steps during durable_after are lost although a newer snapshot was
  // taken, so their time is added to the downtime.
  const double downtime = model.downtime + model.durable_after;
  const double wall_of_interval =
      mean * std::exp(downtime / mean) *
      std::expm1((interval + model.save_cost) / mean);
  return interval / wall_of_interval;
}

double YoungInterval(const FailureModel& model) {
  return std::sqrt(2.0 * model.save_cost * model.between_failures);
}

double BestInterval(const FailureModel& model, double least) {
  // Golden-section search: the goodput has a single maximum, below Young's
  // interval plus the cost.
  double low = least;
  double high = std::max(least, 2.0 * (YoungInterval(model) + model.save_cost));
  const double ratio = (std::sqrt(5.0) - 1.0) / 2.0;
  for (int i = 0; i < 100; ++i) {
    const double left = high - ratio * (high - low);
    const double right = low + ratio * (high - low);
    if (ExpectedGoodput(model, left) < ExpectedGoodput(model, right)) {
      low = left;
    } else {
      high = right;
    }
  }
  return (low + high) / 2.0;
}

}  // namespace gauntlet
