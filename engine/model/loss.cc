#include "engine/model/loss.h"

namespace gauntlet {

void LossWithGradients(LossKind kind, const Kernels& kernels,
                       const LossArgs& args) {
  switch (kind) {
    case LossKind::kSoftmaxCrossEntropy:
      kernels.SoftmaxCrossEntropy(args);
      return;
    case LossKind::kMeanSquaredError:
      kernels.MeanSquaredError(args);
      return;
  }
}

}  // namespace gauntlet
