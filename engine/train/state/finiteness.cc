#include "engine/train/state/finiteness.h"

#include <cmath>

#include "engine/finite.h"

namespace gauntlet {

bool LossIsFinite(const TrainState& state) {
  if (state.metrics.samples > 0) return std::isfinite(state.metrics.loss_sum);
  const std::vector<float>& history = state.history.loss;
  return history.empty() || std::isfinite(history.back());
}

bool IsLearned(std::string_view tensor) {
  return !tensor.starts_with("metrics/") && !tensor.starts_with("history/") &&
         !tensor.starts_with("callbacks/");
}

std::string FindNotFinite(const TrainState& state) {
  for (const TensorView& tensor : state.View()) {
    if (tensor.dtype == DType::kF32 && IsLearned(tensor.name) &&
        !AllFinite(tensor.bytes)) {
      return tensor.name;
    }
  }
  return "";
}

}  // namespace gauntlet
