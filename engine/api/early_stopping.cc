#include "engine/api/early_stopping.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace gauntlet {
namespace {

// Indices in the state. Counts are exact up to 2^24 epochs.
constexpr size_t kBestValue = 0;
constexpr size_t kHasBestValue = 1;
constexpr size_t kWaited = 2;  // epochs since the best one
constexpr size_t kStopped = 3;
// Index of the first value of the model with the best metric: its weights, then
// its replica_state. When training stops, this model is swapped with the
// current one: the values from here on are then the model of the last epoch.
constexpr size_t kBestModel = 4;

constexpr uint32_t kMaxPatience = 1 << 24;

}  // namespace

size_t EarlyStopping::StateSize(const ModelExtent& model) const {
  return kBestModel + (options_.restore_best_weights
                           ? model.parameters + model.replica_state
                           : 0);
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

std::map<std::string, std::string> EarlyStopping::StateOptions() const {
  return {{"monitor", MonitorName(options_.monitor)},
          {"min_delta", fmt::format("{}", options_.min_delta)},
          {"baseline",
           options_.baseline ? fmt::format("{}", *options_.baseline) : "none"},
          {"start_from_epoch", fmt::format("{}", options_.start_from_epoch)},
          {"restore_best_weights",
           fmt::format("{}", options_.restore_best_weights)}};
}

bool EarlyStopping::IsOutOfPatience(std::span<const float> state) const {
  return state[kWaited] >= static_cast<float>(std::max(1u, options_.patience));
}

// Swaps the current model with the one stored at kBestModel.
void EarlyStopping::SwapBestModel(const Boundary& at) const {
  if (!options_.restore_best_weights || at.state[kHasBestValue] == 0.0f) return;
  const auto best_model = at.state.subspan(kBestModel);
  std::ranges::swap_ranges(best_model.first(at.weights.size()), at.weights);
  std::ranges::swap_ranges(best_model.subspan(at.weights.size()),
                           at.replica_state);
}

Status EarlyStopping::OnTrainBegin(const Boundary& at) {
  stops_ = at.state[kStopped] != 0.0f;
  if (!stops_ || IsOutOfPatience(at.state)) return OkStatus();
  // The previous run stopped, but `patience` has been raised since: training
  // continues with the model of the last epoch.
  stops_ = false;
  at.state[kStopped] = 0.0f;
  SwapBestModel(at);
  return OkStatus();
}

bool EarlyStopping::Better(float value, std::span<const float> state) const {
  const auto beats = [&](double than) {
    return MoreIsBetter(options_.monitor) ? value - options_.min_delta > than
                                          : value + options_.min_delta < than;
  };
  if (!std::isfinite(value)) return false;
  if (state[kHasBestValue] != 0.0f) return beats(state[kBestValue]);
  return !options_.baseline || beats(*options_.baseline);
}

Status EarlyStopping::OnEpochEnd(const Boundary& at,
                                 const EpochMetrics& metrics) {
  if (at.epoch <= options_.start_from_epoch) return OkStatus();
  // The metric is rounded to float, like the stored best value, so that equal
  // values compare equal.
  ASSIGN_OR_RETURN(const float value, ValueOf(metrics, options_.monitor));
  if (Better(value, at.state)) {
    at.state[kBestValue] = value;
    at.state[kHasBestValue] = 1.0f;
    at.state[kWaited] = 0.0f;
    if (options_.restore_best_weights) {
      const auto best_model = at.state.subspan(kBestModel);
      const auto rest = std::ranges::copy(at.weights, best_model.begin()).out;
      std::ranges::copy(at.replica_state, rest);
    }
    return OkStatus();
  }
  at.state[kWaited] += 1.0f;
  if (!IsOutOfPatience(at.state)) return OkStatus();
  at.state[kStopped] = 1.0f;
  stops_ = true;
  SwapBestModel(at);
  return OkStatus();
}

}  // namespace gauntlet
