// Products on a device, in the order of numerics_sums.h.
//
// A block of threads computes a tile of c. It processes k in slices: while it
// multiplies one slice in shared memory, the next one is copied there. A thread
// has a small tile of c in registers, as accumulators of the current chunk.
// Totals of earlier chunks are needed only at the end of a chunk, so they are
// in shared memory instead of registers; then two blocks fit on a
// multiprocessor.
//
// The lanes of a warp form a grid of 4 x 8 over the warp's part of the tile.
// Two lanes whose numbers differ only in the last bit have the same columns.
// Two lanes whose numbers differ only in the bit before it have the same rows.
// If such pairs of lanes read the same address, shared memory serves a vector
// read of a warp in two turns; otherwise it needs more.
#ifndef GAUNTLET_ENGINE_GPU_TILE_PRODUCT_H_
#define GAUNTLET_ENGINE_GPU_TILE_PRODUCT_H_

#include "engine/gpu/launch.h"
#include "engine/gpu/operands.h"
#include "engine/numerics/numerics_sums.h"

namespace gauntlet::gpu {

// A block has kWarpsM x kWarpsN warps; a thread computes kEachM x kEachN
// elements of c.
template <unsigned kEachM_, unsigned kEachN_, unsigned kWarpsM_,
          unsigned kWarpsN_, unsigned kDepth_>
struct TileShape {
  static constexpr unsigned kEachM = kEachM_;
  static constexpr unsigned kEachN = kEachN_;
  static constexpr unsigned kWarpsN = kWarpsN_;
  static constexpr unsigned kDepth = kDepth_;  // values of k in a slice
  static constexpr unsigned kWarpM = 4 * kEachM;
  static constexpr unsigned kWarpN = 8 * kEachN;
  static constexpr unsigned kM = kWarpM * kWarpsM_;
  static constexpr unsigned kN = kWarpN * kWarpsN_;
  static constexpr unsigned kThreads = 32 * kWarpsM_ * kWarpsN_;
  static_assert(numerics::kChunk % kDepth == 0, "a slice is of one chunk");

  // Floats from one term of a slice to the next. The four additional floats
  // spread writes of adjacent terms over the memory banks, and keep vectors
  // aligned.
  template <unsigned kRows>
  static constexpr unsigned kStride = kRows + 4;
  static constexpr unsigned kSliceA = kStride<kM> * kDepth;
  static constexpr unsigned kSliceB = kStride<kN> * kDepth;
  static constexpr unsigned kSlices = 2 * (kSliceA + kSliceB);
};

// Destination of the results.
struct TileOutput {
  float* c;
  size_t ldc;
  const float* bias;  // or null
  bool wide;          // c and ldc are aligned for stores of four elements
  // 0: each block processes all chunks. Otherwise, each block along z processes
  // one chunk; the value is then the distance in floats between the sums of two
  // chunks.
  size_t chunk_stride;
};

template <typename Tile, typename A, typename B>
struct TileProduct {
  static constexpr unsigned kThreads = Tile::kThreads;
  static constexpr unsigned kBlocksAtOnce = 2;
  static constexpr unsigned kEachM = Tile::kEachM;
  static constexpr unsigned kEachN = Tile::kEachN;
  // Number of elements that a thread reads at once; its rows are in groups of
  // this size.
  static constexpr unsigned kVectorM = kEachM < 4 ? kEachM : 4;
  static constexpr unsigned kVectorN = kEachN < 4 ? kEachN : 4;

  A a;
  B b;
  numerics::ProductShape shape;
  TileOutput out;

  struct Sums {
    float at[kEachM][kEachN];
  };

  static size_t TilesM(size_t m) { return (m + Tile::kM - 1) / Tile::kM; }
  static size_t TilesN(size_t n) { return (n + Tile::kN - 1) / Tile::kN; }
  static size_t SharedBytes(size_t k, bool one_chunk_a_block) {
    const bool totals = k > numerics::kChunk && !one_chunk_a_block;
    return (Tile::kSlices + (totals ? kThreads * kEachM * kEachN : 0)) *
           sizeof(float);
  }

  GAUNTLET_KERNEL void operator()(const Block& block) const {
    const Corner corner = CornerOf(block.x);
    const bool one_chunk = out.chunk_stride != 0;
    const size_t begin = one_chunk ? block.z * numerics::kChunk : 0;
    const size_t end = one_chunk && shape.k - begin > numerics::kChunk
                           ? begin + numerics::kChunk
                           : shape.k;
    float* const slices = static_cast<float*>(block.shared);
    float* const totals = slices + Tile::kSlices;
    PerThread<Sums, kThreads> sums;
    PerThread<LateCopies, kThreads> copies;
    block.Phase([&](unsigned t) {
      BringSlice(corner, {0, begin, end, t}, slices, copies[t]);
      copies[t].Wait();
    });
    unsigned half = 0;  // index of the half of `slices` in use
    for (size_t k = begin; k < end; k += Tile::kDepth, half = 1 - half) {
      const size_t next = k + Tile::kDepth;
      const float* const here = slices + half * (Tile::kSlices / 2);
      block.Phase([&](unsigned t) {
        if (next < end) {
          BringSlice(corner, {0, next, end, t},
                     slices + (1 - half) * (Tile::kSlices / 2), copies[t]);
        }
        if (next <= end) {
          GAUNTLET_UNROLL
          for (unsigned i = 0; i < Tile::kDepth; ++i)
            AddTerm(here, i, t, sums[t]);
        } else {
          for (unsigned i = 0; i < end - k; ++i) AddTerm(here, i, t, sums[t]);
        }
        if (next % numerics::kChunk == 0 || next >= end) {
          EndChunk(k < begin + numerics::kChunk, next >= end, t, sums[t],
                   totals);
        }
        copies[t].Wait();
      });
    }
    block.Phase([&](unsigned t) { Store(corner, block.z, t, sums[t]); });
  }

 private:
  struct Corner {
    size_t row;
    size_t column;
  };
  struct ThreadPlace {
    unsigned row;
    unsigned column;
  };

  // Returns the corner of tile number x. Tiles are numbered in bands of eight
  // rows, so that tiles which run at the same time read the same rows and
  // columns.
  GAUNTLET_KERNEL Corner CornerOf(size_t x) const {
    constexpr uint32_t kHigh = 8;
    const auto tiles_m =
        static_cast<uint32_t>((shape.m + Tile::kM - 1) / Tile::kM);
    const auto tiles_n =
        static_cast<uint32_t>((shape.n + Tile::kN - 1) / Tile::kN);
    const auto tile = static_cast<uint32_t>(x);
    const uint32_t band = tile / (kHigh * tiles_n);
    const uint32_t left = tiles_m - band * kHigh;
    const uint32_t high = left < kHigh ? left : kHigh;
    const uint32_t in_band = tile - band * kHigh * tiles_n;
    return {(band * kHigh + in_band % high) * size_t{Tile::kM},
            in_band / high * size_t{Tile::kN}};
  }

  GAUNTLET_KERNEL static ThreadPlace PlaceOf(unsigned thread) {
    const unsigned warp = thread / 32;
    const unsigned lane = thread % 32;
    const unsigned row = lane / 16 * 2 + lane % 2;  // row in the grid of lanes
    const unsigned column = lane / 2 % 8;
    return {warp / Tile::kWarpsN * Tile::kWarpM + row * kVectorM,
            warp % Tile::kWarpsN * Tile::kWarpN + column * kVectorN};
  }
  // Returns the row of the thread's element i in the tile, relative to the
  // thread's first row.
  GAUNTLET_KERNEL static constexpr unsigned RowOf(unsigned i) {
    return i / kVectorM * (4 * kVectorM) + i % kVectorM;
  }
  GAUNTLET_KERNEL static constexpr unsigned ColumnOf(unsigned j) {
    return j / kVectorN * (8 * kVectorN) + j % kVectorN;
  }

  GAUNTLET_KERNEL void BringSlice(const Corner& corner, SlicePlace at,
                                  float* slice, LateCopies& copies) const {
    at.first = corner.row;
    a.template Bring<Tile, Tile::kM>(at, slice, copies);
    at.first = corner.column;
    b.template Bring<Tile, Tile::kN>(at, slice + Tile::kSliceA, copies);
  }

  // Reads groups of kEach adjacent floats from shared memory; if kEach is 4,
  // each group with one instruction.
  template <unsigned kCount, unsigned kEach, typename Place>
  GAUNTLET_KERNEL static void Read(const float* from, const Place& place,
                                   float (&to)[kCount]) {
    GAUNTLET_UNROLL
    for (unsigned i = 0; i < kCount; i += kEach) {
      if constexpr (kEach == 4) {
        const Vector v = *reinterpret_cast<const Vector*>(from + place(i));
        GAUNTLET_UNROLL
        for (unsigned l = 0; l < 4; ++l) to[i + l] = v.lane[l];
      } else {
        GAUNTLET_UNROLL
        for (unsigned l = 0; l < kEach; ++l) to[i + l] = from[place(i) + l];
      }
    }
  }

  GAUNTLET_KERNEL static void AddTerm(const float* slices, unsigned k,
                                      unsigned thread, Sums& sums) {
    const ThreadPlace place = PlaceOf(thread);
    float row[kEachM];
    float column[kEachN];
    Read<kEachM, kVectorM>(
        slices + k * Tile::template kStride<Tile::kM> + place.row, RowOf, row);
    Read<kEachN, kVectorN>(slices + Tile::kSliceA +
                               k * Tile::template kStride<Tile::kN> +
                               place.column,
                           ColumnOf, column);
    GAUNTLET_UNROLL
    for (unsigned i = 0; i < kEachM; ++i) {
      GAUNTLET_UNROLL
      for (unsigned j = 0; j < kEachN; ++j) {
        sums.at[i][j] = numerics::Fma(row[i], column[j], sums.at[i][j]);
      }
    }
  }

  // Adds the chunk's sums to the totals. After the last chunk, stores the
  // totals in `sums`.
  GAUNTLET_KERNEL static void EndChunk(bool first, bool last, unsigned thread,
                                       Sums& sums, float* totals) {
    if (first && last) return;
    GAUNTLET_UNROLL
    for (unsigned i = 0; i < kEachM; ++i) {
      GAUNTLET_UNROLL
      for (unsigned j = 0; j < kEachN; ++j) {
        float& total = totals[(i * kEachN + j) * kThreads + thread];
        const float sum = first ? sums.at[i][j] : total + sums.at[i][j];
        if (!last) total = sum;
        sums.at[i][j] = last ? sum : 0.0f;
      }
    }
  }

  GAUNTLET_KERNEL void Store(const Corner& corner, size_t z, unsigned thread,
                             const Sums& sums) const {
    const ThreadPlace place = PlaceOf(thread);
    float* const c = out.c + z * out.chunk_stride;
    GAUNTLET_UNROLL
    for (unsigned i = 0; i < kEachM; ++i) {
      const size_t row = corner.row + place.row + RowOf(i);
      if (row >= shape.m) continue;
      GAUNTLET_UNROLL
      for (unsigned j = 0; j < kEachN; j += kVectorN) {
        const size_t column = corner.column + place.column + ColumnOf(j);
        StoreRow(sums.at[i] + j, column, c + row * out.ldc);
      }
    }
  }

  GAUNTLET_KERNEL void StoreRow(const float* sums, size_t column,
                                float* row) const {
    float results[kVectorN];
    GAUNTLET_UNROLL
    for (unsigned l = 0; l < kVectorN; ++l) {
      const bool inside = column + l < shape.n;
      results[l] = inside && out.bias != nullptr
                       ? sums[l] + out.bias[column + l]
                       : sums[l];
    }
    if constexpr (kVectorN == 4) {
      if (out.wide && column + 4 <= shape.n) {
        *reinterpret_cast<Vector*>(row + column) = {
            {results[0], results[1], results[2], results[3]}};
        return;
      }
    }
    GAUNTLET_UNROLL
    for (unsigned l = 0; l < kVectorN; ++l) {
      if (column + l < shape.n) row[column + l] = results[l];
    }
  }
};

}  // namespace gauntlet::gpu

#endif  // GAUNTLET_ENGINE_GPU_TILE_PRODUCT_H_
