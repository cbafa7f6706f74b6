#include "engine/model/optimizers/clip.h"

#include "engine/numerics.h"

namespace gauntlet {
namespace {

void ClipNorm(float limit, const Kernels& kernels, std::span<float> gradients) {
  const float scale =
      numerics::ClipScale(kernels.SumOfSquares(gradients), limit);
  if (scale != 1.0f) kernels.Scale(scale, gradients);
}

}  // namespace

void ClipGradients(const ClipSpec& spec, const Kernels& kernels,
                   std::span<const ParameterInfo> parameters,
                   std::span<float> gradients) {
  switch (spec.kind) {
    case ClipKind::kNone:
      return;
    case ClipKind::kValue:
      kernels.ClipValues(spec.limit, gradients);
      return;
    case ClipKind::kNorm:
      for (const ParameterInfo& info : parameters) {
        ClipNorm(spec.limit, kernels,
                 gradients.subspan(info.offset, info.size));
      }
      return;
    case ClipKind::kGlobalNorm:
      ClipNorm(spec.limit, kernels, gradients);
      return;
  }
}

}  // namespace gauntlet
