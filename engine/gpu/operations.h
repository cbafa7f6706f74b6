// The operations of a device as launches of kernels: chooses the kernel, the
// number of blocks and the scratch memory. The device and the host use this
// same source.
//
// Runtime is the class that launches kernels:
//   bool ready()                  // nothing has failed
//   unsigned multiprocessors()
//   float* Scratch(size_t floats) // valid until the next operation; null if
//                                 // memory is short: the device has failed
//   void Launch(const Kernel&, const Grid&, size_t shared_bytes)
// Struct Device is derived from it.
#ifndef GAUNTLET_ENGINE_GPU_OPERATIONS_H_
#define GAUNTLET_ENGINE_GPU_OPERATIONS_H_

#include "engine/gpu/device_api.h"
#include "engine/gpu/digest_kernel.h"
#include "engine/gpu/element_kernels.h"
#include "engine/gpu/sum_kernels.h"
#include "engine/gpu/tile_product.h"

namespace gauntlet::gpu {

// A block has 256 threads and computes 128 x 128, 64 x 64 or 32 x 32 elements.
using LargeTile = TileShape<8, 8, 4, 2, 16>;
using MiddleTile = TileShape<4, 4, 4, 2, 16>;
using SmallTile = TileShape<2, 2, 4, 2, 16>;

template <typename Runtime>
class Operations {
 public:
  explicit Operations(Runtime& runtime) : runtime_(runtime) {}

  template <typename Operation>
  void Elements(const Operation& operation, size_t count) {
    if (count == 0 || !runtime_.ready()) return;
    using Kernel = ForElements<Operation>;
    runtime_.Launch(Kernel{operation, count}, {Kernel::Blocks(count), 1}, 0);
  }

  void MatMul(const Product& p) {
    const bool wide_b = Wide(p.b.data, p.b.row_stride);
    if (p.b.column_stride != 1) {
      // One stride of b is 1. Here it is the row stride, so the terms of b are
      // adjacent.
      WithA(p, TermsSideBySide<MatrixPlaces>{
                   p.b.data, {p.b.column_stride}, p.shape.n});
    } else if (wide_b) {
      WithA(p, RowsSideBySide<true>{p.b.data, p.b.row_stride, p.shape.n});
    } else {
      WithA(p, RowsSideBySide<false>{p.b.data, p.b.row_stride, p.shape.n});
    }
  }

  void ColumnSums(const ColumnBlock& block, float* out) {
    const size_t chunks = ChunksOf(block.rows);
    if (chunks <= 1) {
      Elements(ColumnChunksOperation{block, out}, block.columns);
      return;
    }
    float* const sums = runtime_.Scratch(chunks * block.columns);
    Elements(ColumnChunksOperation{block, sums}, chunks * block.columns);
    Elements(AddChunksOperation{sums, chunks, block.columns, block.columns, out,
                                block.columns, nullptr},
             block.columns);
  }

  void Convolution(const ConvolutionArrays& of) {
    const numerics::ConvolutionShape& s = of.shape;
    const Shape shape = {
        {s.Places(), s.filters, s.Taps()}, of.y, s.filters, of.bias};
    WithFilters(TermsSideBySide<PatchPlaces>{of.x, {s}, s.Places()}, of.kernel,
                shape);
  }

  void KernelGradient(const KernelGradientArrays& of) {
    const numerics::ConvolutionShape& s = of.shape;
    const Shape shape = {
        {s.Taps(), s.filters, s.Places()}, of.gradient, s.filters, nullptr};
    WithFilters(TermsSideBySide<TapPlaces>{of.x, {s}, s.Taps()}, of.dy, shape);
  }

  void InputGradient(const InputGradientArrays& of) {
    const numerics::ConvolutionShape& s = of.shape;
    const size_t weights = s.Taps() * s.filters;
    float* const swapped = runtime_.Scratch(weights);
    Elements(SwapChannelsOperation{s, of.kernel, swapped}, weights);
    Elements(InputGradientOperation{s, of.dy, swapped, of.dx},
             s.samples * s.height * s.width * s.channels);
  }

  void Dropout(const DropoutRows& rows, const float* x, float* y) {
    if (rows.count == 0) return;
    const size_t blocks = (rows.columns + 3) / 4;
    const size_t count = (rows.count + rows.columns - 1) / rows.columns;
    Elements(DropoutOperation{rows, blocks, x, y}, count * blocks);
  }

  void Sum(const float* x, size_t count, Terms terms, float* result) {
    const size_t chunks = ChunksOf(count);
    float* const sums = runtime_.Scratch(chunks);
    if (!runtime_.ready()) return;
    if (chunks > 0) {
      runtime_.Launch(ChunkSums{x, count, terms, sums},
                      {ChunkSums::Blocks(count), 1}, ChunkSums::kSharedBytes);
    }
    runtime_.Launch(FoldChunks{sums, chunks, result}, {1, 1},
                    FoldChunks::kSharedBytes);
  }

  void Digests(const DigestBlocks& blocks) {
    if (blocks.bytes == 0 || !runtime_.ready()) return;
    const size_t count =
        (blocks.bytes + blocks.block_bytes - 1) / blocks.block_bytes;
    runtime_.Launch(DigestKernel{blocks, kDigestSecret}, {count, 1},
                    DigestKernel::kSharedBytes);
  }

 private:
  // Product to compute, and its destination.
  struct Shape {
    numerics::ProductShape product;
    float* c;
    size_t ldc;
    const float* bias;
  };

  // Maximum number of floats in the scratch memory for one product's chunk
  // sums.
  static constexpr size_t kScratchFloats = size_t{1} << 25;
  static constexpr size_t kMostChunks = 65535;  // limit on blocks along z

  static bool Wide(const float* data, size_t stride) {
    return reinterpret_cast<uintptr_t>(data) % sizeof(Vector) == 0 &&
           stride % 4 == 0;
  }

  template <typename B>
  void WithA(const Product& p, const B& b) {
    const Shape shape = {p.shape, p.c, p.ldc, p.bias};
    if (p.a.row_stride != 1) {
      Compute(
          TermsSideBySide<MatrixPlaces>{p.a.data, {p.a.row_stride}, p.shape.m},
          b, shape);
    } else if (Wide(p.a.data, p.a.column_stride)) {
      Compute(RowsSideBySide<true>{p.a.data, p.a.column_stride, p.shape.m}, b,
              shape);
    } else {
      Compute(RowsSideBySide<false>{p.a.data, p.a.column_stride, p.shape.m}, b,
              shape);
    }
  }

  // b is terms x filters.
  template <typename A>
  void WithFilters(const A& a, const float* b, const Shape& shape) {
    const size_t filters = shape.product.n;
    if (Wide(b, filters)) {
      Compute(a, RowsSideBySide<true>{b, filters, filters}, shape);
    } else {
      Compute(a, RowsSideBySide<false>{b, filters, filters}, shape);
    }
  }

  // Chooses the largest tiles for which each multiprocessor has a block. The
  // choice does not affect the bits of the result.
  template <typename A, typename B>
  void Compute(const A& a, const B& b, const Shape& shape) {
    const size_t m = shape.product.m;
    const size_t n = shape.product.n;
    if (m == 0 || n == 0 || !runtime_.ready()) return;
    if (Fills<TileProduct<LargeTile, A, B>>(m, n)) {
      InTiles<TileProduct<LargeTile, A, B>>(a, b, shape);
    } else if (Fills<TileProduct<MiddleTile, A, B>>(m, n)) {
      InTiles<TileProduct<MiddleTile, A, B>>(a, b, shape);
    } else {
      InTiles<TileProduct<SmallTile, A, B>>(a, b, shape);
    }
  }

  template <typename Kernel>
  bool Fills(size_t m, size_t n) const {
    return Kernel::TilesM(m) * Kernel::TilesN(n) >= runtime_.multiprocessors();
  }

  template <typename Kernel, typename A, typename B>
  void InTiles(const A& a, const B& b, const Shape& shape) {
    const numerics::ProductShape& p = shape.product;
    const size_t tiles = Kernel::TilesM(p.m) * Kernel::TilesN(p.n);
    const size_t chunks = ChunksOf(p.k);
    const bool divided = chunks > 1 && tiles < runtime_.multiprocessors() &&
                         chunks <= kMostChunks &&
                         chunks <= kScratchFloats / (p.m * p.n);
    if (!divided) {
      const TileOutput out = {shape.c, shape.ldc, shape.bias,
                              Wide(shape.c, shape.ldc), 0};
      runtime_.Launch(Kernel{a, b, p, out}, {tiles, 1},
                      Kernel::SharedBytes(p.k, false));
      return;
    }
    float* const sums = runtime_.Scratch(chunks * p.m * p.n);
    if (!runtime_.ready()) return;
    const TileOutput out = {sums, p.n, nullptr, Wide(sums, p.n), p.m * p.n};
    runtime_.Launch(Kernel{a, b, p, out}, {tiles, chunks},
                    Kernel::SharedBytes(p.k, true));
    Elements(AddChunksOperation{sums, chunks, p.m * p.n, p.n, shape.c,
                                shape.ldc, shape.bias},
             p.m * p.n);
  }

  Runtime& runtime_;
};

}  // namespace gauntlet::gpu

#endif  // GAUNTLET_ENGINE_GPU_OPERATIONS_H_
