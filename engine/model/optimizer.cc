#include "engine/model/optimizer.h"

#include "engine/model/adam.h"
#include "engine/model/sgd.h"

namespace gauntlet {

std::unique_ptr<Optimizer> Optimizer::Build(const OptimizerSpec& spec,
                                            const Kernels& kernels) {
  if (spec.kind == OptimizerKind::kSgd) {
    return std::make_unique<Sgd>(spec, kernels);
  }
  return std::make_unique<Adam>(spec, kernels);
}

}  // namespace gauntlet
