// Adam (Kingma & Ba 2015, algorithm 1 in the form of the end of section 2).
#ifndef GAUNTLET_ENGINE_MODEL_OPTIMIZERS_ADAM_H_
#define GAUNTLET_ENGINE_MODEL_OPTIMIZERS_ADAM_H_

#include "engine/model/optimizers/optimizer.h"

namespace gauntlet {

class Adam final : public Optimizer {
 public:
  Adam(const OptimizerSpec& spec, const Kernels& kernels);

  std::vector<std::string> slot_names() const override;
  std::vector<std::string> scalar_names() const override;
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

#endif  // GAUNTLET_ENGINE_MODEL_OPTIMIZERS_ADAM_H_
