// Tests whether float32 values are finite, and gives all NaNs one bit pattern.
#ifndef GAUNTLET_ENGINE_FINITE_H_
#define GAUNTLET_ENGINE_FINITE_H_

#include <cstddef>
#include <span>

namespace gauntlet {

// Returns true iff all values are finite. `floats` holds little-endian float32
// and need not be aligned. REQUIRES: its size is a multiple of 4.
bool AllFinite(std::span<const std::byte> floats);

// Returns `value`, or one fixed NaN for every NaN: the bits and the sign of a
// NaN may depend on the path that computed it.
float CanonicalNan(float value);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_FINITE_H_
