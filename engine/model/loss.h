// The losses at the end of a model, row by row, with their gradients.
#ifndef GAUNTLET_ENGINE_MODEL_LOSS_H_
#define GAUNTLET_ENGINE_MODEL_LOSS_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/job/job.h"
#include "engine/math/kernels.h"

namespace gauntlet {

// losses[i] is the loss of row i, unscaled; gradients are those of the scaled
// loss. Formulas: numerics::SoftmaxCrossEntropy, numerics::MeanSquaredError
// (against the one-hot label).
void LossWithGradients(LossKind kind, const Kernels& kernels,
                       const LossArgs& args);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_MODEL_LOSS_H_
