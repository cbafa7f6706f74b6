// Stochastic gradient descent, with classical momentum (Polyak 1964, in the
// form of Sutskever et al. 2013, equations 1 and 2) if `momentum` is not 0.
#ifndef GAUNTLET_ENGINE_MODEL_OPTIMIZERS_SGD_H_
#define GAUNTLET_ENGINE_MODEL_OPTIMIZERS_SGD_H_

#include "engine/model/optimizers/optimizer.h"

namespace gauntlet {

class Sgd final : public Optimizer {
 public:
  Sgd(const OptimizerSpec& spec, const Kernels& kernels);

  std::vector<std::string> slot_names() const override;
  std::vector<std::string> scalar_names() const override { return {}; }
  OptimizerState InitialState(size_t parameter_count) const override;
  using Optimizer::Apply;
  void Apply(uint64_t update, std::span<const float> gradients,
             UpdatedArray parameters,
             const OptimizerArrays& state) const override;

 private:
  OptimizerSpec spec_;
  const Kernels& kernels_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_MODEL_OPTIMIZERS_SGD_H_
