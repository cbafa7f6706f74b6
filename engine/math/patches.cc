#include "engine/math/patches.h"

#include <algorithm>

namespace gauntlet {

void GatherPatches(const numerics::ConvolutionShape& shape, const float* x,
                   size_t first, size_t count, float* patches) {
  // Floats that one row of the kernel covers are contiguous.
  const size_t run = shape.size * shape.channels;
  const size_t row = shape.width * shape.channels;
  for (size_t place = first; place < first + count; ++place) {
    const float* from = x + shape.InputOf(place);
    for (size_t ky = 0; ky < shape.size; ++ky, from += row) {
      patches = std::copy_n(from, run, patches);
    }
  }
}

void SwapChannelsAndFilters(const numerics::ConvolutionShape& shape,
                            const float* kernel, float* swapped) {
  for (size_t pixel = 0; pixel < shape.size * shape.size; ++pixel) {
    for (size_t f = 0; f < shape.filters; ++f) {
      for (size_t c = 0; c < shape.channels; ++c) {
        *swapped++ = kernel[c * shape.filters + f];
      }
    }
    kernel += shape.channels * shape.filters;
  }
}

}  // namespace gauntlet
