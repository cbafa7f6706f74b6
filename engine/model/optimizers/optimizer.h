// The update rule: parameters, gradients and slots in, parameters and slots
// out.
#ifndef GAUNTLET_ENGINE_MODEL_OPTIMIZERS_OPTIMIZER_H_
#define GAUNTLET_ENGINE_MODEL_OPTIMIZERS_OPTIMIZER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/job/job.h"
#include "engine/math/kernels.h"

namespace gauntlet {

// The optimizer's own state. Each slot is as long as the parameters.
struct OptimizerState {
  std::vector<std::vector<float>> slots;
  std::vector<float> scalars;  // Adam: the powers of beta1 and beta2 so far
};

// Views of an OptimizerState whose slots are in the kernels' memory: the host's
// or the device's.
struct OptimizerArrays {
  std::span<const UpdatedArray> slots;
  std::span<float> scalars;  // in host memory
};

// Has no state of its own: everything that a restart needs is in
// OptimizerState.
class Optimizer {
 public:
  static std::unique_ptr<Optimizer> Build(const OptimizerSpec& spec,
                                          const Kernels& kernels);
  virtual ~Optimizer() = default;
  // "adam/m", "adam/v"; "sgd/momentum"; none for SGD without momentum.
  virtual std::vector<std::string> slot_names() const = 0;
  // "adam/beta1_power", …
  virtual std::vector<std::string> scalar_names() const = 0;
  virtual OptimizerState InitialState(size_t parameter_count) const = 0;
  // Makes one update. `update` is its number, counted from 0, and determines
  // the learning rate. Gradients, parameters and slots are in the kernels'
  // memory. Adam: Kingma & Ba 2015, algorithm 1, in the form of its section 2
  // (the step size corrected, not the moments), as in Keras.
  virtual void Apply(uint64_t update, std::span<const float> gradients,
                     UpdatedArray parameters,
                     const OptimizerArrays& state) const = 0;
  // Like the function above, but in place. REQUIRES: the kernels' memory is the
  // host's.
  void Apply(uint64_t update, std::span<const float> gradients,
             std::span<float> parameters, OptimizerState& state) const;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_MODEL_OPTIMIZERS_OPTIMIZER_H_
