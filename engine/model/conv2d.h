// Convolution of images (NHWC) with a square kernel, without padding, stride 1:
// y = x * kernel + bias. The kernel is size x size x channels x filters.
#ifndef GAUNTLET_ENGINE_MODEL_CONV2D_H_
#define GAUNTLET_ENGINE_MODEL_CONV2D_H_

#include <cstdint>
#include <string>

#include "engine/math/kernels.h"
#include "engine/model/layer.h"

namespace gauntlet {

struct Conv2DSpec {
  std::string name;    // "conv0"
  uint32_t layer = 0;  // index in the model: keys its initial values
  uint32_t height = 0;
  uint32_t width = 0;
  uint32_t channels = 0;
  uint32_t size = 0;  // side of the kernel; at most height and width
  uint32_t filters = 0;
};

class Conv2D final : public Layer {
 public:
  Conv2D(Conv2DSpec spec, const Kernels& kernels);

  size_t outputs() const override;
  std::vector<ParameterInfo> parameters() const override;
  void Initialize(uint64_t rng_key, std::span<float> parameters) const override;
  void Forward(const PassContext& context, std::span<const float> parameters,
               std::span<const float> x, std::span<float> y) const override;
  void ParameterGradients(const PassContext& context,
                          const BackwardArgs& args) const override;
  void InputGradient(const PassContext& context,
                     const BackwardArgs& args) const override;

 private:
  numerics::ConvolutionShape ShapeOf(size_t rows) const;
  size_t kernel_size() const { return ShapeOf(0).Taps() * spec_.filters; }

  Conv2DSpec spec_;
  const Kernels& kernels_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_MODEL_CONV2D_H_
