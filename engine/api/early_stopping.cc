#include "engine/api/early_stopping.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace gauntlet {
namespace {

// Places in the state. Counts are exact up to 2^24 epochs.
constexpr size_t kBest = 0;
constexpr size_t kHasBest = 1;
constexpr size_t kWaited = 2;  // epochs since the best one
constexpr size_t kStopped = 3;
constexpr size_t kBestWeights = 4;

constexpr uint32_t kMaxPatience = 1 << 24;

}  // namespace

size_t EarlyStopping::StateSize(size_t weights) const {
  return kBestWeights + (options_.restore_best_weights ? weights : 0);
}

Status EarlyStopping::Configure(TrainOptions& /*options*/) const {
  if (!(options_.min_delta >= 0.0)) {
    return InvalidArgument(
        fmt::format("early stopping: min_delta: expected at least 0, found {}",
                    options_.min_delta));
  }
  if (options_.patience > kMaxPatience) {
    return InvalidArgument(
        fmt::format("early stopping: patience: expected at most {}, found {}",
                    kMaxPatience, options_.patience));
  }
  return OkStatus();
}

Status EarlyStopping::OnTrainBegin(const Boundary& at) {
  stops_ = at.state[kStopped] != 0.0f;
  return OkStatus();
}

bool EarlyStopping::Better(float value, std::span<const float> state) const {
  const auto beats = [&](double than) {
    return MoreIsBetter(options_.monitor) ? value - options_.min_delta > than
                                          : value + options_.min_delta < than;
  };
  if (state[kHasBest] != 0.0f) return beats(state[kBest]);
  return options_.baseline ? beats(*options_.baseline) : !std::isnan(value);
}

Status EarlyStopping::OnEpochEnd(const Boundary& at,
                                 const EpochMetrics& metrics) {
  if (at.epoch <= options_.start_from_epoch) return OkStatus();
  // An equal value later is then equal to the one that is kept.
  ASSIGN_OR_RETURN(const float value, ValueOf(metrics, options_.monitor));
  const auto best_weights = at.state.subspan(kBestWeights);
  if (Better(value, at.state)) {
    at.state[kBest] = value;
    at.state[kHasBest] = 1.0f;
    at.state[kWaited] = 0.0f;
    if (!best_weights.empty()) {
      std::ranges::copy(at.weights, best_weights.begin());
    }
    return OkStatus();
  }
  at.state[kWaited] += 1.0f;
  if (at.state[kWaited] < static_cast<float>(std::max(1u, options_.patience))) {
    return OkStatus();
  }
  at.state[kStopped] = 1.0f;
  stops_ = true;
  if (!best_weights.empty() && at.state[kHasBest] != 0.0f) {
    std::ranges::copy(best_weights, at.weights.begin());
  }
  return OkStatus();
}

}  // namespace gauntlet
