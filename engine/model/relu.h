// y = max(x, 0).
#ifndef GAUNTLET_ENGINE_MODEL_RELU_H_
#define GAUNTLET_ENGINE_MODEL_RELU_H_

#include "engine/math/kernels.h"
#include "engine/model/layer.h"

namespace gauntlet {

class Relu final : public Layer {
 public:
  Relu(size_t width, const Kernels& kernels);

  size_t outputs() const override { return width_; }
  void Forward(const PassContext& context, std::span<const float> parameters,
               std::span<const float> x, std::span<float> y) const override;
  void Backward(const PassContext& context,
                const BackwardArgs& args) const override;

 private:
  size_t width_;
  const Kernels& kernels_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_MODEL_RELU_H_
