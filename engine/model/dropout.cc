#include "engine/model/dropout.h"

namespace gauntlet {

Dropout::Dropout(const DropoutSpec& spec, const Kernels& kernels)
    : spec_(spec), kernels_(kernels) {}

Kernels::DropoutArgs Dropout::ArgsFor(const PassContext& context) const {
  return {.rng_key = context.rng_key,
          .step = context.step,
          .layer = spec_.layer,
          .first_row = context.first_global_row,
          .columns = spec_.width,
          .rate = spec_.rate};
}

void Dropout::Forward(const PassContext& context,
                      std::span<const float> /*parameters*/,
                      std::span<const float> x, std::span<float> y) const {
  kernels_.Dropout(ArgsFor(context), x, y);
}

void Dropout::InputGradient(const PassContext& context,
                            const BackwardArgs& args) const {
  kernels_.Dropout(ArgsFor(context), args.dy, args.dx);
}

}  // namespace gauntlet
