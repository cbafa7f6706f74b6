// Counter-based random numbers: the n-th number of a named stream depends only
// on the seed, the name and n, so that one consumer's use does not affect
// another's numbers.
#ifndef GAUNTLET_CHAOS_SIM_SCHEDULER_RANDOM_STREAM_H_
#define GAUNTLET_CHAOS_SIM_SCHEDULER_RANDOM_STREAM_H_

#include <cstdint>
#include <string_view>

namespace gauntlet {

class RandomStream {
 public:
  RandomStream(uint64_t seed, std::string_view name)
      : key_(Mix(seed) ^ Mix(HashName(name))) {}

  // Returns a number uniform over 64 bits.
  uint64_t Next() { return Mix(key_ + ++counter_ * kGolden); }
  // Uniform in [0, n), with a bias of n / 2^64. REQUIRES: n > 0.
  uint64_t Below(uint64_t n) {
    return static_cast<uint64_t>((Wide{Next()} * n) >> 64);
  }
  // Returns a number uniform in [low, high]. REQUIRES: low <= high, not the
  // whole range of 64 bits.
  uint64_t Between(uint64_t low, uint64_t high) {
    return low + Below(high - low + 1);
  }

 private:
  __extension__ using Wide = unsigned __int128;
  static constexpr uint64_t kGolden = 0x9E3779B97F4A7C15;

  // The finaliser of SplitMix64 (Steele, Lea, Flood 2014).
  static uint64_t Mix(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
    return x ^ (x >> 31);
  }
  // FNV-1a.
  static uint64_t HashName(std::string_view name) {
    uint64_t hash = 0xCBF29CE484222325;
    for (const char c : name) {
      hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
    }
    return hash;
  }

  uint64_t key_;
  uint64_t counter_ = 0;
};

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_SIM_SCHEDULER_RANDOM_STREAM_H_
