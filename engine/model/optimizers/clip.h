// Clips gradients, after the sum over replicas and before the update (R.
// Pascanu, T. Mikolov, Y. Bengio, "On the difficulty of training recurrent
// neural networks", ICML 2013, algorithm 1, for the norms).
#ifndef GAUNTLET_ENGINE_MODEL_OPTIMIZERS_CLIP_H_
#define GAUNTLET_ENGINE_MODEL_OPTIMIZERS_CLIP_H_

#include <span>

#include "engine/job/job.h"
#include "engine/math/kernels.h"
#include "engine/model/model.h"

namespace gauntlet {

// Clips in place. The sum of squares of the global norm runs over the flat
// array, in the order of the parameters. A norm that is NaN leaves its
// gradients unchanged. An infinite norm (even of finite gradients, if their sum
// of squares overflows) scales by 0: finite gradients become 0, infinite ones
// NaN.
void ClipGradients(const ClipSpec& spec, const Kernels& kernels,
                   std::span<const ParameterInfo> parameters,
                   std::span<float> gradients);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_MODEL_OPTIMIZERS_CLIP_H_
