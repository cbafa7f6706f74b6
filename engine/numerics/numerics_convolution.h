// Part of engine/numerics.h: convolution, one output element at a time.
//
// Arrays are NHWC: x is samples x height x width x channels, y is samples x
// out_height x out_width x filters, the kernel is size x size x channels x
// filters. No padding, stride 1. Each element is a sum as in numerics_sums.h
// over one index k, whose order is part of the contract:
//
//   output            k = (ky, kx, channel), then the bias
//   kernel gradient   k = (sample, y, x) of the output
//   input gradient    k = (ky, kx, filter). Taps outside of the output are
//                     skipped but still counted in k: the nominal index
//                     determines the chunk
//
// The bias gradient is ColumnSums of dy over (sample, y, x).
#ifndef GAUNTLET_ENGINE_NUMERICS_NUMERICS_CONVOLUTION_H_
#define GAUNTLET_ENGINE_NUMERICS_NUMERICS_CONVOLUTION_H_

#include <cstddef>

#include "engine/numerics/numerics_math.h"
#include "engine/numerics/numerics_sums.h"

namespace gauntlet::numerics {

// REQUIRES: 1 <= size <= height and width.
struct ConvolutionShape {
  size_t samples = 0;
  size_t height = 0;
  size_t width = 0;
  size_t channels = 0;
  size_t size = 0;  // of the kernel: rows and columns
  size_t filters = 0;

  GAUNTLET_NUMERIC size_t OutHeight() const { return height - size + 1; }
  GAUNTLET_NUMERIC size_t OutWidth() const { return width - size + 1; }
  // Number of positions of the kernel: of all (sample, y, x) of the output.
  GAUNTLET_NUMERIC size_t Places() const {
    return samples * OutHeight() * OutWidth();
  }
  // Floats of x that the kernel covers at one position; also the length of a
  // filter.
  GAUNTLET_NUMERIC size_t Taps() const { return size * size * channels; }
  // Index in x of the first float of (sample, y, x).
  GAUNTLET_NUMERIC size_t InputAt(size_t sample, size_t y, size_t x) const {
    return ((sample * height + y) * width + x) * channels;
  }
  // Index in x of the first float under the kernel at a place.
  GAUNTLET_NUMERIC size_t InputOf(size_t place) const {
    const size_t row = place / OutWidth();
    return InputAt(row / OutHeight(), row % OutHeight(), place % OutWidth());
  }
};

// Returns y[place][filter] without the bias.
GAUNTLET_NUMERIC float ConvolutionOutput(const ConvolutionShape& s,
                                         const float* x, const float* kernel,
                                         size_t place, size_t filter) {
  const float* const corner = x + s.InputOf(place);
  float total = 0.0f;
  float acc = 0.0f;
  size_t k = 0;
  for (size_t ky = 0; ky < s.size; ++ky) {
    for (size_t kx = 0; kx < s.size; ++kx) {
      for (size_t c = 0; c < s.channels; ++c, ++k) {
        if (k > 0 && k % kChunk == 0) {
          total = k == kChunk ? acc : total + acc;
          acc = 0.0f;
        }
        acc = Fma(corner[(ky * s.width + kx) * s.channels + c],
                  kernel[k * s.filters + filter], acc);
      }
    }
  }
  return k <= kChunk ? acc : total + acc;
}

// y = x * kernel, + bias[filter].
GAUNTLET_NUMERIC void Convolution(const ConvolutionShape& s, const float* x,
                                  const float* kernel, const float* bias,
                                  float* y) {
  for (size_t place = 0; place < s.Places(); ++place) {
    for (size_t f = 0; f < s.filters; ++f) {
      y[place * s.filters + f] =
          ConvolutionOutput(s, x, kernel, place, f) + bias[f];
    }
  }
}

// Returns the gradient of kernel[ky][kx][channel][filter]; `tap` is the index
// of (ky, kx, channel).
GAUNTLET_NUMERIC float ConvolutionKernelElement(const ConvolutionShape& s,
                                                const float* x, const float* dy,
                                                size_t tap, size_t filter) {
  const size_t pixel = tap / s.channels;
  const size_t offset =
      (pixel / s.size * s.width + pixel % s.size) * s.channels +
      tap % s.channels;
  float total = 0.0f;
  for (size_t begin = 0; begin < s.Places(); begin += kChunk) {
    const size_t left = s.Places() - begin;
    const size_t end = begin + (left < kChunk ? left : kChunk);
    float acc = 0.0f;
    for (size_t place = begin; place < end; ++place) {
      acc = Fma(x[s.InputOf(place) + offset], dy[place * s.filters + filter],
                acc);
    }
    total = begin == 0 ? acc : total + acc;
  }
  return total;
}

GAUNTLET_NUMERIC void ConvolutionKernelGradient(const ConvolutionShape& s,
                                                const float* x, const float* dy,
                                                float* gradient) {
  for (size_t tap = 0; tap < s.Taps(); ++tap) {
    for (size_t f = 0; f < s.filters; ++f) {
      gradient[tap * s.filters + f] =
          ConvolutionKernelElement(s, x, dy, tap, f);
    }
  }
}

// Position of an element of x.
struct ConvolutionInput {
  size_t sample = 0;
  size_t y = 0;
  size_t x = 0;
  size_t channel = 0;
};
GAUNTLET_NUMERIC float ConvolutionInputElement(const ConvolutionShape& s,
                                               const float* dy,
                                               const float* kernel,
                                               const ConvolutionInput& at) {
  float total = 0.0f;
  float acc = 0.0f;
  size_t k = 0;
  for (size_t ky = 0; ky < s.size; ++ky) {
    for (size_t kx = 0; kx < s.size; ++kx) {
      // Unsigned: positions before the first row or column wrap to huge
      // numbers.
      const size_t row = at.y - ky;
      const size_t column = at.x - kx;
      const bool inside = row < s.OutHeight() && column < s.OutWidth();
      for (size_t f = 0; f < s.filters; ++f, ++k) {
        if (k > 0 && k % kChunk == 0) {
          total = k == kChunk ? acc : total + acc;
          acc = 0.0f;
        }
        if (!inside) continue;
        const size_t place =
            (at.sample * s.OutHeight() + row) * s.OutWidth() + column;
        const size_t tap = (ky * s.size + kx) * s.channels + at.channel;
        acc = Fma(dy[place * s.filters + f], kernel[tap * s.filters + f], acc);
      }
    }
  }
  return k <= kChunk ? acc : total + acc;
}

GAUNTLET_NUMERIC void ConvolutionInputGradient(const ConvolutionShape& s,
                                               const float* dy,
                                               const float* kernel, float* dx) {
  for (size_t sample = 0; sample < s.samples; ++sample) {
    for (size_t y = 0; y < s.height; ++y) {
      for (size_t x = 0; x < s.width; ++x) {
        for (size_t c = 0; c < s.channels; ++c) {
          dx[s.InputAt(sample, y, x) + c] =
              ConvolutionInputElement(s, dy, kernel, {sample, y, x, c});
        }
      }
    }
  }
}

}  // namespace gauntlet::numerics

#endif  // GAUNTLET_ENGINE_NUMERICS_NUMERICS_CONVOLUTION_H_
