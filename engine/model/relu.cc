#include "engine/model/relu.h"

namespace gauntlet {

Relu::Relu(size_t width, const Kernels& kernels)
    : width_(width), kernels_(kernels) {}

void Relu::Forward(const PassContext& /*context*/,
                   std::span<const float> /*parameters*/,
                   std::span<const float> x, std::span<float> y) const {
  kernels_.Relu(x, y);
}

void Relu::Backward(const PassContext& /*context*/,
                    const BackwardArgs& args) const {
  if (args.dx.empty()) return;
  kernels_.ReluGradient(args.y, args.dy, args.dx);
}

}  // namespace gauntlet
