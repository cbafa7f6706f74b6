// y = x * kernel + bias, with a kernel of inputs x units.
#ifndef GAUNTLET_ENGINE_MODEL_DENSE_H_
#define GAUNTLET_ENGINE_MODEL_DENSE_H_

#include <cstdint>
#include <string>

#include "engine/math/kernels.h"
#include "engine/model/layer.h"

namespace gauntlet {

struct DenseSpec {
  std::string name;    // "dense0"
  uint32_t layer = 0;  // index in the model: keys its initial values
  uint32_t inputs = 0;
  uint32_t units = 0;
};

class Dense final : public Layer {
 public:
  Dense(DenseSpec spec, const Kernels& kernels);

  size_t outputs() const override { return spec_.units; }
  std::vector<ParameterInfo> parameters() const override;
  void Initialize(uint64_t rng_key, std::span<float> parameters) const override;
  void Forward(const PassContext& context, std::span<const float> parameters,
               std::span<const float> x, std::span<float> y) const override;
  void ParameterGradients(const PassContext& context,
                          const BackwardArgs& args) const override;
  void InputGradient(const PassContext& context,
                     const BackwardArgs& args) const override;

 private:
  size_t kernel_size() const { return size_t{spec_.inputs} * spec_.units; }

  DenseSpec spec_;
  const Kernels& kernels_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_MODEL_DENSE_H_
