// The required sum of an all-reduce: the replicas' arrays, added one by one in
// order.
#ifndef GAUNTLET_TESTS_ENGINE_CLUSTER_RING_PLAIN_SUM_H_
#define GAUNTLET_TESTS_ENGINE_CLUSTER_RING_PLAIN_SUM_H_

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "chaos/sim/scheduler/random_stream.h"

namespace gauntlet {

using Arrays = std::vector<std::vector<float>>;

// Returns values whose sum depends on the order of addition.
inline Arrays MakeReplicas(size_t replicas, size_t floats, uint64_t seed) {
  RandomStream stream(seed, "replicas");
  Arrays arrays(replicas, std::vector<float>(floats));
  for (auto& array : arrays) {
    for (float& value : array) {
      const int exponent = static_cast<int>(stream.Below(40)) - 20;
      value = std::ldexp(static_cast<float>(stream.Below(1 << 20)) - 5e5f,
                         exponent);
    }
  }
  return arrays;
}

// Compares bits, so that NaN equals itself and -0 differs from 0.
inline bool SameBits(const std::vector<float>& a, const std::vector<float>& b) {
  return std::ranges::equal(a, b, [](float x, float y) {
    return std::bit_cast<uint32_t>(x) == std::bit_cast<uint32_t>(y);
  });
}

inline std::vector<float> PlainSum(const Arrays& replicas) {
  std::vector<float> sum = replicas[0];
  for (size_t r = 1; r < replicas.size(); ++r) {
    for (size_t i = 0; i < sum.size(); ++i) sum[i] = sum[i] + replicas[r][i];
  }
  return sum;
}

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_ENGINE_CLUSTER_RING_PLAIN_SUM_H_
