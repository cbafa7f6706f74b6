// Inverted dropout (Srivastava et al. 2014, section 10): in training the share
// `rate` of the elements becomes +0 and the others are divided by 1 - rate; in
// evaluation nothing happens. The mask is a function of (rng_key, layer, step,
// row in the global batch, column), so it is the same whichever worker computes
// it.
#ifndef GAUNTLET_ENGINE_MODEL_DROPOUT_H_
#define GAUNTLET_ENGINE_MODEL_DROPOUT_H_

#include <cstdint>

#include "engine/math/kernels.h"
#include "engine/model/layer.h"

namespace gauntlet {

struct DropoutSpec {
  uint32_t layer = 0;  // index in the model: keys its masks
  size_t width = 0;
  float rate = 0.0f;
};

class Dropout final : public Layer {
 public:
  Dropout(const DropoutSpec& spec, const Kernels& kernels);

  size_t outputs() const override { return spec_.width; }
  bool Acts(Pass pass) const override { return pass == Pass::kTraining; }
  void Forward(const PassContext& context, std::span<const float> parameters,
               std::span<const float> x, std::span<float> y) const override;
  void InputGradient(const PassContext& context,
                     const BackwardArgs& args) const override;

 private:
  Kernels::DropoutArgs ArgsFor(const PassContext& context) const;

  DropoutSpec spec_;
  const Kernels& kernels_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_MODEL_DROPOUT_H_
