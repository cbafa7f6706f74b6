// Kernels on single elements. Each element is computed by a function of
// engine/numerics/numerics_updates.h; each thread has a few elements.
//
// Each operation is a struct of plain values with a function of an index. Its
// arrays are the same or disjoint, so no element depends on another.
#ifndef GAUNTLET_ENGINE_GPU_ELEMENT_KERNELS_H_
#define GAUNTLET_ENGINE_GPU_ELEMENT_KERNELS_H_

#include "engine/gpu/launch.h"
#include "engine/math/isa_kernels.h"
#include "engine/numerics.h"

namespace gauntlet::gpu {

// Applies an operation to each element. Adjacent threads take adjacent
// elements, so that accesses coalesce. Each thread takes kEach elements, so
// that several loads are in flight.
template <typename Operation>
struct ForElements {
  static constexpr unsigned kThreads = 256;
  static constexpr unsigned kBlocksAtOnce = 4;
  static constexpr unsigned kEach = 4;
  static constexpr size_t kPerBlock = size_t{kThreads} * kEach;

  Operation operation;
  size_t count;

  static size_t Blocks(size_t count) {
    return (count + kPerBlock - 1) / kPerBlock;
  }
  GAUNTLET_KERNEL void operator()(const Block& block) const {
    block.Phase([&](unsigned thread) {
      const size_t first = block.x * kPerBlock + thread;
      GAUNTLET_UNROLL
      for (unsigned i = 0; i < kEach; ++i) {
        const size_t at = first + i * kThreads;
        if (at < count) operation(at);
      }
    });
  }
};

// `Functions` are those of an activation (numerics_updates.h).
template <typename Functions>
struct ActivationOperation {
  const float* x;
  float* y;
  GAUNTLET_KERNEL void operator()(size_t i) const {
    y[i] = Functions::Value(x[i]);
  }
};

template <typename Functions>
struct ActivationGradientOperation {
  const float* x;
  const float* dy;
  float* dx;
  GAUNTLET_KERNEL void operator()(size_t i) const {
    dx[i] = Functions::Gradient(x[i], dy[i]);
  }
};

struct AccumulateOperation {
  const float* x;
  float* acc;
  GAUNTLET_KERNEL void operator()(size_t i) const { acc[i] = acc[i] + x[i]; }
};

struct ScaleOperation {
  float factor;
  float* x;
  GAUNTLET_KERNEL void operator()(size_t i) const { x[i] = x[i] * factor; }
};

struct ClipOperation {
  float limit;
  float* x;
  GAUNTLET_KERNEL void operator()(size_t i) const {
    x[i] = numerics::ClipValue(x[i], limit);
  }
};

// Updates slots and parameter in one pass.
struct AdamOperation {
  numerics::AdamRates rates;
  AdamArrays arrays;
  GAUNTLET_KERNEL void operator()(size_t i) const {
    const numerics::AdamElement next = numerics::AdamUpdate(
        rates, arrays.gradients[i],
        {arrays.parameters.from[i], arrays.m.from[i], arrays.v.from[i]});
    arrays.parameters.to[i] = next.parameter;
    arrays.m.to[i] = next.m;
    arrays.v.to[i] = next.v;
  }
};

struct SgdOperation {
  float rate;
  const float* gradients;
  UpdatedPointers parameters;
  GAUNTLET_KERNEL void operator()(size_t i) const {
    parameters.to[i] =
        numerics::SgdUpdate(rate, gradients[i], parameters.from[i]);
  }
};

struct SgdMomentumOperation {
  SgdRates rates;
  const float* gradients;
  UpdatedPointers parameters;
  UpdatedPointers velocity;
  GAUNTLET_KERNEL void operator()(size_t i) const {
    const float next = numerics::MomentumVelocity(
        rates.rate, rates.momentum, gradients[i], velocity.from[i]);
    velocity.to[i] = next;
    parameters.to[i] = parameters.from[i] + next;
  }
};

// y = x - means[column].
struct SubtractMeansOperation {
  const float* x;
  const float* means;
  size_t columns;
  float* y;
  GAUNTLET_KERNEL void operator()(size_t i) const {
    y[i] = x[i] - means[i % columns];
  }
};

// Before the operation, next[i] is a sum over `rows` values. After the
// operation, it is the moving mean that follows means[i].
struct MovingMeansOperation {
  float momentum;
  uint64_t rows;
  const float* means;
  float* next;
  GAUNTLET_KERNEL void operator()(size_t i) const {
    next[i] = numerics::MovingMean(momentum, means[i], next[i], rows);
  }
};

// One call computes four elements of a row, which use one Philox block.
struct DropoutOperation {
  DropoutRows rows;
  size_t blocks;  // per row
  const float* x;
  float* y;
  GAUNTLET_KERNEL void operator()(size_t i) const {
    const size_t row = i / blocks;
    const auto block = static_cast<uint32_t>(i % blocks);
    const numerics::PhiloxBlock words =
        numerics::StreamBlock(rows.stream, rows.first_row + row, block);
    const float scale = numerics::DropoutScale(rows.rate);
    GAUNTLET_UNROLL
    for (unsigned l = 0; l < 4; ++l) {
      const size_t column = size_t{block} * 4 + l;
      const size_t at = row * rows.columns + column;
      if (column >= rows.columns || at >= rows.count) continue;
      y[at] =
          numerics::WordKeeps(words.word[l], rows.rate) ? x[at] * scale : 0.0f;
    }
  }
};

// One call computes a whole row, as rows have few classes.
struct CrossEntropyOperation {
  CrossEntropyRows rows;
  float* losses;
  float* gradients;
  GAUNTLET_KERNEL void operator()(size_t i) const {
    const size_t at = i * rows.classes;
    losses[i] = numerics::SoftmaxCrossEntropy(rows.logits + at, rows.classes,
                                              rows.labels[i], rows.scale,
                                              gradients + at);
  }
};

struct MeanSquaredErrorOperation {
  CrossEntropyRows rows;
  float* losses;
  float* gradients;
  GAUNTLET_KERNEL void operator()(size_t i) const {
    const size_t at = i * rows.classes;
    losses[i] =
        numerics::MeanSquaredError(rows.logits + at, rows.classes,
                                   rows.labels[i], rows.scale, gradients + at);
  }
};

// right[i] = 1 where the row's arg-max is its label, else 0.
struct RightRowsOperation {
  CrossEntropyRows rows;
  uint8_t* right;
  GAUNTLET_KERNEL void operator()(size_t i) const {
    right[i] = numerics::ArgMax(rows.logits + i * rows.classes, rows.classes) ==
                       rows.labels[i]
                   ? 1
                   : 0;
  }
};

// The input gradient of a convolution. One call computes one element; the index
// of the channel varies fastest. `swapped` is the kernel with channels after
// filters, so that adjacent threads read adjacent values.
struct InputGradientOperation {
  numerics::ConvolutionShape shape;
  const float* dy;
  const float* swapped;
  float* dx;

  GAUNTLET_KERNEL void operator()(size_t i) const {
    const numerics::ConvolutionShape& s = shape;
    const size_t pixel = i / s.channels;
    const size_t row = pixel / s.width;
    const numerics::ConvolutionInput at = {row / s.height, row % s.height,
                                           pixel % s.width, i % s.channels};
    float total = 0.0f;
    float acc = 0.0f;
    size_t k = 0;  // also counts skipped taps
    for (size_t ky = 0; ky < s.size; ++ky) {
      for (size_t kx = 0; kx < s.size; ++kx) {
        // Unsigned arithmetic: a position before the first row or column
        // becomes a huge number, which is not inside.
        const size_t y = at.y - ky;
        const size_t x = at.x - kx;
        const bool inside = y < s.OutHeight() && x < s.OutWidth();
        const size_t place = (at.sample * s.OutHeight() + y) * s.OutWidth() + x;
        const float* const from = inside ? dy + place * s.filters : dy;
        const float* const weights =
            swapped + (ky * s.size + kx) * s.filters * s.channels + at.channel;
        for (size_t f = 0; f < s.filters; ++f, ++k) {
          if (k > 0 && k % numerics::kChunk == 0) {
            total = k == numerics::kChunk ? acc : total + acc;
            acc = 0.0f;
          }
          if (inside) {
            acc = numerics::Fma(from[f], weights[f * s.channels], acc);
          }
        }
      }
    }
    dx[i] = k <= numerics::kChunk ? acc : total + acc;
  }
};

struct SwapChannelsOperation {
  numerics::ConvolutionShape shape;
  const float* kernel;
  float* swapped;
  GAUNTLET_KERNEL void operator()(size_t i) const {
    const size_t size = shape.channels * shape.filters;
    const size_t pixel = i / size;
    const size_t filter = i % size / shape.channels;
    const size_t channel = i % shape.channels;
    swapped[i] = kernel[pixel * size + channel * shape.filters + filter];
  }
};

}  // namespace gauntlet::gpu

#endif  // GAUNTLET_ENGINE_GPU_ELEMENT_KERNELS_H_
