#include "engine/model/activation.h"

namespace gauntlet {

ActivationLayer::ActivationLayer(numerics::Activation activation, size_t width,
                                 const Kernels& kernels)
    : activation_(activation), width_(width), kernels_(kernels) {}

void ActivationLayer::Forward(const PassContext& /*context*/,
                              std::span<const float> /*parameters*/,
                              std::span<const float> x,
                              std::span<float> y) const {
  kernels_.Activate(activation_, x, y);
}

void ActivationLayer::InputGradient(const PassContext& /*context*/,
                                    const BackwardArgs& args) const {
  kernels_.ActivationGradient(activation_, args.x, args.dy, args.dx);
}

}  // namespace gauntlet
