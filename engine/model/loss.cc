#include "engine/model/loss.h"

#include "engine/numerics.h"

namespace gauntlet {

void LossWithGradients(LossKind kind, const Kernels& kernels,
                       const LossArgs& args) {
  switch (kind) {
    case LossKind::kSoftmaxCrossEntropy:
      kernels.SoftmaxCrossEntropy(args.outputs, args.labels, args.classes,
                                  args.scale, args.losses, args.gradients);
      return;
    case LossKind::kMeanSquaredError:
      // A few numbers a row: the reference itself is fast enough.
      for (size_t row = 0; row < args.labels.size(); ++row) {
        const size_t first = row * args.classes;
        args.losses[row] = numerics::MeanSquaredError(
            args.outputs.data() + first, args.classes, args.labels[row],
            args.scale, args.gradients.data() + first);
      }
      return;
  }
}

}  // namespace gauntlet
