// Convolution as products: rearrangement of the data only, no arithmetic.
#ifndef GAUNTLET_ENGINE_MATH_PATCHES_H_
#define GAUNTLET_ENGINE_MATH_PATCHES_H_

#include <cstddef>

#include "engine/numerics/numerics_convolution.h"

namespace gauntlet {

// patches[i * taps + k] = the float of x that tap k covers at place first + i.
// The products of these rows with the kernel are the outputs, in the order of
// the contract.
void GatherPatches(const numerics::ConvolutionShape& shape, const float* x,
                   size_t first, size_t count, float* patches);

// Transposes size x size x channels x filters to size x size x filters x
// channels.
void SwapChannelsAndFilters(const numerics::ConvolutionShape& shape,
                            const float* kernel, float* swapped);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_MATH_PATCHES_H_
