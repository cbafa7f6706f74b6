// The numerics contract: what every operation on state means, bit for bit.
//
// Each function is a plain scalar reference, written operation by operation.
// + - * / and square root are IEEE-754 binary32, round to nearest even, with
// denormals. A fused multiply-add happens exactly where Fma stands. The fast
// paths (engine/math, the CUDA plugin) are tested against these functions bit
// for bit, with one exception: any NaN equals any NaN.
//
// The same source compiles for the host (-ffp-contract=off) and for a device
// (nvcc -fmad=false -ftz=false -prec-div=true -prec-sqrt=true). Functions are
// always inlined, so that files compiled for different instruction sets share
// no symbol.
//
//   numerics_math.h     Fma, Sqrt, Exp, Log, Tanh, Erf, CosPi
//   numerics_sums.h     sums, products, losses, arg-max
//   numerics_convolution.h  convolution and its gradients
//   numerics_updates.h  activations and optimizer updates, element by element
//   numerics_schedule.h learning rates, a function of the update
//   numerics_random.h   Philox, its keys, dropout, initial values, permutation
//
// A change that alters the bits of any result must also change kVersion, which
// is part of every job digest and manifest.
#ifndef GAUNTLET_ENGINE_NUMERICS_H_
#define GAUNTLET_ENGINE_NUMERICS_H_

#include <cstdint>

#include "engine/numerics/numerics_convolution.h"  // IWYU pragma: export
#include "engine/numerics/numerics_math.h"         // IWYU pragma: export
#include "engine/numerics/numerics_random.h"       // IWYU pragma: export
#include "engine/numerics/numerics_schedule.h"     // IWYU pragma: export
#include "engine/numerics/numerics_sums.h"         // IWYU pragma: export
#include "engine/numerics/numerics_updates.h"      // IWYU pragma: export

namespace gauntlet::numerics {

inline constexpr uint32_t kVersion = 1;

}  // namespace gauntlet::numerics

#endif  // GAUNTLET_ENGINE_NUMERICS_H_
