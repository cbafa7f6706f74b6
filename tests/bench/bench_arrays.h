// Arrays that benchmarks compute on.
#ifndef GAUNTLET_TESTS_BENCH_BENCH_ARRAYS_H_
#define GAUNTLET_TESTS_BENCH_BENCH_ARRAYS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/tensor.h"

namespace gauntlet {

// Returns finite values of both signs, without a pattern that affects speed.
inline std::vector<float> Values(size_t size) {
  std::vector<float> values(size);
  uint32_t state = 1;
  for (float& value : values) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<float>(static_cast<int32_t>(state)) * 0x1p-31f;
  }
  return values;
}

// Returns the values as four float32 tensors of equal size, ordered by name.
// REQUIRES: the number of values is a multiple of four, and the values outlive
// the views.
inline std::vector<TensorView> TensorsOf(std::span<const float> values) {
  const size_t size = values.size() / 4;
  std::vector<TensorView> tensors;
  for (size_t i = 0; i < 4; ++i) {
    tensors.push_back({.name = "tensor" + std::to_string(i),
                       .shape = {size},
                       .bytes = std::as_bytes(values.subspan(i * size, size))});
  }
  return tensors;
}

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_BENCH_BENCH_ARRAYS_H_
