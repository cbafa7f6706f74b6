#include "engine/model/conv2d.h"

#include <algorithm>
#include <utility>

#include "engine/model/glorot.h"

namespace gauntlet {

Conv2D::Conv2D(Conv2DSpec spec, const Kernels& kernels)
    : spec_(std::move(spec)), kernels_(kernels) {}

numerics::ConvolutionShape Conv2D::ShapeOf(size_t rows) const {
  return {.samples = rows,
          .height = spec_.height,
          .width = spec_.width,
          .channels = spec_.channels,
          .size = spec_.size,
          .filters = spec_.filters};
}

size_t Conv2D::outputs() const { return ShapeOf(1).Places() * spec_.filters; }

std::vector<ParameterInfo> Conv2D::parameters() const {
  return {{.name = spec_.name + "/kernel",
           .shape = {spec_.size, spec_.size, spec_.channels, spec_.filters},
           .offset = 0,
           .size = kernel_size()},
          {.name = spec_.name + "/bias",
           .shape = {spec_.filters},
           .offset = kernel_size(),
           .size = spec_.filters}};
}

void Conv2D::Initialize(uint64_t rng_key, std::span<float> parameters) const {
  const uint32_t pixels = spec_.size * spec_.size;
  FillGlorotUniform({.layer = spec_.layer,
                     .fan_in = pixels * spec_.channels,
                     .fan_out = pixels * spec_.filters},
                    rng_key, parameters.first(kernel_size()));
  std::ranges::fill(parameters.subspan(kernel_size()), 0.0f);
}

void Conv2D::Forward(const PassContext& context,
                     std::span<const float> parameters,
                     std::span<const float> x, std::span<float> y) const {
  kernels_.Convolution(ShapeOf(context.rows), x,
                       parameters.first(kernel_size()),
                       parameters.subspan(kernel_size()), y);
}

void Conv2D::ParameterGradients(const PassContext& context,
                                const BackwardArgs& args) const {
  const numerics::ConvolutionShape shape = ShapeOf(context.rows);
  kernels_.ConvolutionKernelGradient(shape, args.x, args.dy,
                                     args.gradients.first(kernel_size()));
  kernels_.ColumnSums(args.dy, shape.Places(), spec_.filters,
                      args.gradients.subspan(kernel_size()));
}

void Conv2D::InputGradient(const PassContext& context,
                           const BackwardArgs& args) const {
  kernels_.ConvolutionInputGradient(ShapeOf(context.rows), args.dy,
                                    args.parameters.first(kernel_size()),
                                    args.dx);
}

}  // namespace gauntlet
