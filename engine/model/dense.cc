#include "engine/model/dense.h"

#include <algorithm>
#include <utility>

#include "engine/model/glorot.h"

namespace gauntlet {

Dense::Dense(DenseSpec spec, const Kernels& kernels)
    : spec_(std::move(spec)), kernels_(kernels) {}

std::vector<ParameterInfo> Dense::parameters() const {
  return {{.name = spec_.name + "/kernel",
           .shape = {spec_.inputs, spec_.units},
           .offset = 0,
           .size = kernel_size()},
          {.name = spec_.name + "/bias",
           .shape = {spec_.units},
           .offset = kernel_size(),
           .size = spec_.units}};
}

void Dense::Initialize(uint64_t rng_key, std::span<float> parameters) const {
  FillGlorotUniform(
      {.layer = spec_.layer, .fan_in = spec_.inputs, .fan_out = spec_.units},
      rng_key, parameters.first(kernel_size()));
  std::ranges::fill(parameters.subspan(kernel_size()), 0.0f);
}

void Dense::Forward(const PassContext& context,
                    std::span<const float> parameters, std::span<const float> x,
                    std::span<float> y) const {
  kernels_.MatMul({.m = context.rows,
                   .n = spec_.units,
                   .k = spec_.inputs,
                   .a = x.data(),
                   .lda = spec_.inputs,
                   .b = parameters.data(),
                   .ldb = spec_.units,
                   .c = y.data(),
                   .ldc = spec_.units,
                   .bias = parameters.data() + kernel_size()});
}

void Dense::ParameterGradients(const PassContext& context,
                               const BackwardArgs& args) const {
  // One product over all rows: the sum's index k counts the rows of the
  // replica.
  kernels_.MatMul({.m = spec_.inputs,
                   .n = spec_.units,
                   .k = context.rows,
                   .a = args.x.data(),
                   .lda = spec_.inputs,
                   .transpose_a = Transpose::kYes,
                   .b = args.dy.data(),
                   .ldb = spec_.units,
                   .c = args.gradients.data(),
                   .ldc = spec_.units});
  kernels_.ColumnSums(args.dy, context.rows, spec_.units,
                      args.gradients.subspan(kernel_size()));
}

void Dense::InputGradient(const PassContext& context,
                          const BackwardArgs& args) const {
  kernels_.MatMul({.m = context.rows,
                   .n = spec_.inputs,
                   .k = spec_.units,
                   .a = args.dy.data(),
                   .lda = spec_.units,
                   .b = args.parameters.data(),
                   .ldb = spec_.units,
                   .transpose_b = Transpose::kYes,
                   .c = args.dx.data(),
                   .ldc = spec_.inputs});
}

}  // namespace gauntlet
