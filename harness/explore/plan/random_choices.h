// Random draws for plans. Each purpose draws from a stream with its own name,
// so that an additional draw does not change the draws for other purposes.
#ifndef GAUNTLET_HARNESS_EXPLORE_PLAN_RANDOM_CHOICES_H_
#define GAUNTLET_HARNESS_EXPLORE_PLAN_RANDOM_CHOICES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "chaos/sim/scheduler/random_stream.h"

namespace gauntlet {

// Draws from the stream of one name.
class RandomChoices {
 public:
  RandomChoices(uint64_t case_seed, std::string_view name)
      : stream_(case_seed, name) {}

  uint64_t Below(uint64_t n) { return stream_.Below(n); }
  uint64_t Between(uint64_t low, uint64_t high) {
    return stream_.Between(low, high);
  }
  bool OneIn(uint64_t n) { return stream_.Below(n) == 0; }
  // Returns a number from 1 to 2^bits. First draws k from 0 to `bits`, then a
  // number from (2^(k-1), 2^k].
  uint64_t LogUniform(uint64_t bits) {
    const uint64_t high = uint64_t{1} << stream_.Below(bits + 1);
    return high == 1 ? 1 : stream_.Between(high / 2 + 1, high);
  }
  template <typename T>
  T Of(std::span<const T> items) {
    return items[stream_.Below(items.size())];
  }
  template <typename T, size_t n>
  T Of(const std::array<T, n>& items) {
    return Of(std::span<const T>(items));
  }
  template <typename T>
  T Of(const std::vector<T>& items) {
    return Of(std::span<const T>(items));
  }

 private:
  RandomStream stream_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_PLAN_RANDOM_CHOICES_H_
