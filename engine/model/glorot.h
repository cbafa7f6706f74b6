// Initial values of a kernel (Glorot & Bengio 2010, equation 16).
#ifndef GAUNTLET_ENGINE_MODEL_GLOROT_H_
#define GAUNTLET_ENGINE_MODEL_GLOROT_H_

#include <cstdint>
#include <span>

namespace gauntlet {

struct GlorotSpec {
  uint32_t layer = 0;  // index in the model
  uint32_t fan_in = 0;
  uint32_t fan_out = 0;
};

// Uniform values keyed by (rng_key, layer, element).
void FillGlorotUniform(const GlorotSpec& spec, uint64_t rng_key,
                       std::span<float> kernel);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_MODEL_GLOROT_H_
