// y = f(x), element by element, with f and its gradient in numerics_updates.h.
#ifndef GAUNTLET_ENGINE_MODEL_ACTIVATION_H_
#define GAUNTLET_ENGINE_MODEL_ACTIVATION_H_

#include "engine/math/kernels.h"
#include "engine/model/layer.h"
#include "engine/numerics/numerics_updates.h"

namespace gauntlet {

class ActivationLayer final : public Layer {
 public:
  ActivationLayer(numerics::Activation activation, size_t width,
                  const Kernels& kernels);

  size_t outputs() const override { return width_; }
  void Forward(const PassContext& context, std::span<const float> parameters,
               std::span<const float> x, std::span<float> y) const override;
  void InputGradient(const PassContext& context,
                     const BackwardArgs& args) const override;

 private:
  numerics::Activation activation_;
  size_t width_;
  const Kernels& kernels_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_MODEL_ACTIVATION_H_
