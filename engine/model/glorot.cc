#include "engine/model/glorot.h"

#include "engine/numerics.h"

namespace gauntlet {

void FillGlorotUniform(const GlorotSpec& spec, uint64_t rng_key,
                       std::span<float> kernel) {
  const float limit = numerics::GlorotLimit(spec.fan_in, spec.fan_out);
  const numerics::RandomStream stream = numerics::MakeStream(
      rng_key, numerics::Purpose::kInit, spec.layer, /*step=*/0);
  for (size_t i = 0; i < kernel.size(); ++i) {
    kernel[i] = numerics::UniformSymmetric(
        numerics::StreamWord(stream, /*row=*/0, static_cast<uint32_t>(i)),
        limit);
  }
}

}  // namespace gauntlet
