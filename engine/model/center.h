// y = x - m, where m is a moving mean of each channel, kept by each replica for
// itself: a layer whose state is not trained.
//
// In training a replica subtracts m as it was before the step, and then sets m
// to momentum * m + (1 - momentum) * mean, with the mean of its rows. Gradients
// pass through: m counts as a constant. In evaluation m is the mean over
// replicas.
#ifndef GAUNTLET_ENGINE_MODEL_CENTER_H_
#define GAUNTLET_ENGINE_MODEL_CENTER_H_

#include <string>

#include "engine/math/kernels.h"
#include "engine/model/layer.h"

namespace gauntlet {

struct CenterSpec {
  std::string name;     // "center0"
  size_t places = 0;    // pixels of an image; 1 for flat rows
  size_t channels = 0;  // floats a pixel
  float momentum = 0.0f;
};

class Center final : public Layer {
 public:
  Center(CenterSpec spec, const Kernels& kernels);

  size_t outputs() const override { return spec_.places * spec_.channels; }
  std::vector<ParameterInfo> replica_state() const override;
  void Forward(const PassContext& context, std::span<const float> parameters,
               std::span<const float> x, std::span<float> y) const override;
  void InputGradient(const PassContext& context,
                     const BackwardArgs& args) const override;

 private:
  CenterSpec spec_;
  const Kernels& kernels_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_MODEL_CENTER_H_
