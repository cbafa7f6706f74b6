// Whether float32 values are finite numbers: neither infinite nor NaN.
#ifndef GAUNTLET_ENGINE_FINITE_H_
#define GAUNTLET_ENGINE_FINITE_H_

#include <cstddef>
#include <span>

namespace gauntlet {

// Of little-endian float32, which need not be aligned. REQUIRES: whole floats.
bool AllFinite(std::span<const std::byte> floats);

// The same value; of a NaN always the same one. Which NaN comes out of an
// operation, and its sign, may depend on the path that computed it.
float CanonicalNan(float value);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_FINITE_H_
