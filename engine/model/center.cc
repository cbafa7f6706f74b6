#include "engine/model/center.h"

#include <algorithm>
#include <utility>

#include "engine/numerics.h"

namespace gauntlet {

Center::Center(CenterSpec spec, const Kernels& kernels)
    : spec_(std::move(spec)), kernels_(kernels) {}

std::vector<ParameterInfo> Center::replica_state() const {
  return {{.name = spec_.name + "/moving_mean",
           .shape = {spec_.channels},
           .offset = 0,
           .size = spec_.channels}};
}

void Center::Forward(const PassContext& context,
                     std::span<const float> /*parameters*/,
                     std::span<const float> x, std::span<float> y) const {
  const size_t channels = spec_.channels;
  const std::span<const float> mean = context.state;
  for (size_t first = 0; first < x.size(); first += channels) {
    for (size_t c = 0; c < channels; ++c) {
      y[first + c] = x[first + c] - mean[c];
    }
  }
  if (context.pass == Pass::kEvaluation) return;
  const size_t rows = context.rows * spec_.places;
  const std::span<float> next = context.next_state;
  kernels_.ColumnSums(x, rows, channels, next);
  for (size_t c = 0; c < channels; ++c) {
    next[c] = numerics::MovingMean(spec_.momentum, mean[c], next[c], rows);
  }
}

void Center::Backward(const PassContext& /*context*/,
                      const BackwardArgs& args) const {
  if (!args.dx.empty()) std::ranges::copy(args.dy, args.dx.begin());
}

}  // namespace gauntlet
