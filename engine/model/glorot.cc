#include "engine/model/glorot.h"

#include <algorithm>

#include "engine/numerics.h"

namespace gauntlet {

void FillGlorotUniform(const GlorotSpec& spec, uint64_t rng_key,
                       std::span<float> kernel) {
  const float limit = numerics::GlorotLimit(spec.fan_in, spec.fan_out);
  const numerics::RandomStream stream = numerics::MakeStream(
      rng_key, numerics::Purpose::kInit, spec.layer, /*step=*/0);
  // Each Philox block yields four elements, as numerics::StreamWord does.
  for (size_t first = 0; first < kernel.size(); first += 4) {
    const auto block = numerics::StreamBlock(stream, /*row=*/0,
                                             static_cast<uint32_t>(first / 4));
    const size_t words = std::min<size_t>(4, kernel.size() - first);
    for (size_t i = 0; i < words; ++i) {
      kernel[first + i] = numerics::UniformSymmetric(block.word[i], limit);
    }
  }
}

}  // namespace gauntlet
