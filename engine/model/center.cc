#include "engine/model/center.h"

#include <utility>

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
  kernels_.SubtractMeans(x, context.state, y);
  if (context.pass == Pass::kEvaluation) return;
  const size_t rows = context.rows * spec_.places;
  kernels_.ColumnSums(x, rows, spec_.channels, context.next_state);
  kernels_.MovingMeans(spec_.momentum, rows, context.state, context.next_state);
}

void Center::InputGradient(const PassContext& /*context*/,
                           const BackwardArgs& args) const {
  kernels_.memory().Copy(args.dx.data(), args.dy.data(), args.dx.size_bytes());
}

}  // namespace gauntlet
