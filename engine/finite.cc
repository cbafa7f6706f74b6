#include "engine/finite.h"

#include <cstdint>
#include <cstring>
#include <limits>

namespace gauntlet {
namespace {

constexpr size_t kFloatsAtOnce = 1024;
constexpr size_t kBytesAtOnce = kFloatsAtOnce * sizeof(uint32_t);
constexpr uint32_t kExponent = 0x7f800000;
constexpr uint32_t kLowestBitOfExponent = 0x00800000;
constexpr uint32_t kSign = 0x80000000;

// Infinity and NaN have an exponent of all ones. Adding 1 to this exponent
// carries into the sign bit, and no other exponent does so. The fixed number of
// floats and the absence of branches let compilers vectorize the loop.
bool AllFiniteIn(const std::byte* floats) {
  uint32_t carried = 0;
  for (size_t i = 0; i < kFloatsAtOnce; ++i) {
    uint32_t bits = 0;
    std::memcpy(&bits, floats + i * sizeof(bits), sizeof(bits));
    carried |= (bits & kExponent) + kLowestBitOfExponent;
  }
  return (carried & kSign) == 0;
}

}  // namespace

bool AllFinite(std::span<const std::byte> floats) {
  for (; floats.size() >= kBytesAtOnce; floats = floats.subspan(kBytesAtOnce)) {
    if (!AllFiniteIn(floats.data())) return false;
  }
  std::byte rest[kBytesAtOnce] = {};
  if (!floats.empty()) std::memcpy(rest, floats.data(), floats.size());
  return AllFiniteIn(rest);
}

float CanonicalNan(float value) {
  return value == value ? value : std::numeric_limits<float>::quiet_NaN();
}

}  // namespace gauntlet
