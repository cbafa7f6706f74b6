// The model in double precision, written as plainly as possible: the reference
// for float32 gradients.
#ifndef GAUNTLET_TESTS_ENGINE_MODEL_DOUBLE_MODEL_H_
#define GAUNTLET_TESTS_ENGINE_MODEL_DOUBLE_MODEL_H_

#include <span>
#include <vector>

#include "engine/model/model.h"

namespace gauntlet {

// Returns the sum over the batch's rows of loss x loss_scale in a training
// pass, with the dropout masks of the numerics contract. Images are `width`
// pixels wide.
double DoubleLoss(const ModelSpec& spec, uint32_t width,
                  const ReplicaBatch& batch,
                  std::span<const double> parameters);

// Returns d DoubleLoss / d parameters, by central differences.
std::vector<double> DifferenceGradients(const ModelSpec& spec, uint32_t width,
                                        const ReplicaBatch& batch,
                                        std::span<const float> parameters);

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_ENGINE_MODEL_DOUBLE_MODEL_H_
