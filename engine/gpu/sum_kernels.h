// Kernels of plain sums in the order of numerics_sums.h: a thread sums each
// chunk, then the chunk sums are added in ascending order.
#ifndef GAUNTLET_ENGINE_GPU_SUM_KERNELS_H_
#define GAUNTLET_ENGINE_GPU_SUM_KERNELS_H_

#include "engine/gpu/launch.h"
#include "engine/math/isa_kernels.h"
#include "engine/numerics.h"

namespace gauntlet::gpu {

inline size_t ChunksOf(size_t count) {
  return (count + numerics::kChunk - 1) / numerics::kChunk;
}

// One call computes one chunk of one column: sums[chunk * columns + column].
struct ColumnChunksOperation {
  ColumnBlock block;
  float* sums;
  GAUNTLET_KERNEL void operator()(size_t i) const {
    const size_t column = i % block.columns;
    const size_t begin = i / block.columns * numerics::kChunk;
    const size_t left = block.rows > begin ? block.rows - begin : 0;
    const size_t end =
        begin + (left < numerics::kChunk ? left : numerics::kChunk);
    float acc = 0.0f;
    for (size_t row = begin; row < end; ++row) {
      acc = acc + block.x[row * block.row_stride + column];
    }
    sums[i] = acc;
  }
};

// One call computes one element of a product with rows of `columns` elements.
// The element's chunk sums are `stride` floats apart.
struct AddChunksOperation {
  const float* sums;
  size_t chunks;
  size_t stride;
  size_t columns;
  float* c;
  size_t ldc;
  const float* bias;  // one per column; or null
  GAUNTLET_KERNEL void operator()(size_t i) const {
    float total = sums[i];
    for (size_t chunk = 1; chunk < chunks; ++chunk) {
      total = total + sums[chunk * stride + i];
    }
    const size_t column = i % columns;
    if (bias != nullptr) total = total + bias[column];
    c[i / columns * ldc + column] = total;
  }
};

// One call changes one element of c, which has rows of `columns` elements.
struct AddBiasOperation {
  const float* bias;  // one per column
  size_t columns;
  float* c;
  size_t ldc;
  GAUNTLET_KERNEL void operator()(size_t i) const {
    const size_t column = i % columns;
    float& element = c[i / columns * ldc + column];
    element = element + bias[column];
  }
};

enum class Terms : uint8_t { kValues, kSquares };

// Sets sums[chunk] to the sum of each chunk of x. One thread sums one chunk;
// reads go through shared memory, so that adjacent threads read adjacent
// values.
struct ChunkSums {
  static constexpr unsigned kThreads = 32;
  static constexpr unsigned kBlocksAtOnce = 16;
  static constexpr unsigned kStride = kThreads + 1;
  static constexpr size_t kSharedBytes = kThreads * kStride * sizeof(float);

  const float* x;
  size_t count;
  Terms terms;
  float* sums;

  static size_t Blocks(size_t count) {
    return (ChunksOf(count) + kThreads - 1) / kThreads;
  }
  GAUNTLET_KERNEL void operator()(const Block& block) const {
    const size_t first = block.x * kThreads;  // chunk
    float* const square = static_cast<float*>(block.shared);
    PerThread<float, kThreads> acc;
    for (size_t k = 0; k < numerics::kChunk; k += kThreads) {
      block.Phase([&](unsigned t) {
        for (unsigned chunk = 0; chunk < kThreads; ++chunk) {
          const size_t at = (first + chunk) * numerics::kChunk + k + t;
          if (at < count) square[chunk * kStride + t] = x[at];
        }
      });
      block.Phase([&](unsigned t) {
        const size_t at = (first + t) * numerics::kChunk + k;
        const size_t left = at < count ? count - at : 0;
        for (unsigned i = 0; i < kThreads && i < left; ++i) {
          const float value = square[t * kStride + i];
          acc[t] = terms == Terms::kSquares
                       ? numerics::Fma(value, value, acc[t])
                       : acc[t] + value;
        }
      });
    }
    block.Phase([&](unsigned t) {
      if ((first + t) * numerics::kChunk < count) sums[first + t] = acc[t];
    });
  }
};

// One thread adds the chunk sums in ascending order; the other threads only
// read them into shared memory. Without chunks the result is +0.
struct FoldChunks {
  static constexpr unsigned kThreads = 256;
  static constexpr unsigned kBlocksAtOnce = 1;
  static constexpr size_t kSharedBytes = kThreads * sizeof(float);

  const float* sums;
  size_t chunks;
  float* result;

  GAUNTLET_KERNEL void operator()(const Block& block) const {
    float* const read = static_cast<float*>(block.shared);
    PerThread<float, kThreads> total;
    for (size_t first = 0; first < chunks; first += kThreads) {
      block.Phase([&](unsigned t) {
        if (first + t < chunks) read[t] = sums[first + t];
      });
      block.Phase([&](unsigned t) {
        if (t != 0) return;
        for (unsigned i = 0; i < kThreads && first + i < chunks; ++i) {
          total[0] = first + i == 0 ? read[0] : total[0] + read[i];
        }
      });
    }
    block.Phase([&](unsigned t) {
      if (t == 0) *result = total[0];
    });
  }
};

}  // namespace gauntlet::gpu

#endif  // GAUNTLET_ENGINE_GPU_SUM_KERNELS_H_
