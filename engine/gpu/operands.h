// Operands of a product: a matrix, or the patches of a convolution, which a
// kernel reads from the input and never stores.
//
// An operand has `extent` rows of `k` terms. The rows of operand a are its m
// rows; the rows of operand b are its n columns. Bring copies a slice of a tile
// into shared memory: element (i, k) of the slice goes to slice[k * stride +
// i]. Rows after the last one are filled with +0, and their sums are not
// stored. Terms after the last one are not added.
#ifndef GAUNTLET_ENGINE_GPU_OPERANDS_H_
#define GAUNTLET_ENGINE_GPU_OPERANDS_H_

#include "engine/gpu/launch.h"
#include "engine/numerics/numerics_convolution.h"

namespace gauntlet::gpu {

// Part of an operand that one thread copies into a slice.
struct SlicePlace {
  size_t first = 0;     // row
  size_t k = 0;         // term
  size_t k_end = 0;     // no terms from here on
  unsigned thread = 0;  // number of the thread that copies its share
};

// Operand whose rows are adjacent in memory: element (i, k) is data[k * stride
// + i]. kWide: data and stride are aligned for copies of four elements.
template <bool kWide>
struct RowsSideBySide {
  const float* data;
  size_t stride;
  size_t extent;

  template <typename Tile, unsigned kRows>
  GAUNTLET_KERNEL void Bring(const SlicePlace& at, float* slice,
                             LateCopies& copies) const {
    constexpr unsigned kEach = kWide ? 4 : 1;
    constexpr unsigned kInRow = kRows / kEach;
    constexpr unsigned kPieces = kInRow * Tile::kDepth;
    GAUNTLET_UNROLL
    for (unsigned done = 0; done < kPieces; done += Tile::kThreads) {
      const unsigned piece = done + at.thread;
      if (kPieces % Tile::kThreads != 0 && piece >= kPieces) break;
      const unsigned k = piece / kInRow;
      const unsigned i = piece % kInRow * kEach;
      const size_t row = at.first + i;
      const size_t left = row < extent ? extent - row : 0;
      unsigned floats = left < kEach ? static_cast<unsigned>(left) : kEach;
      if (at.k + k >= at.k_end) floats = 0;
      const float* const from =
          floats == 0 ? data : data + (at.k + k) * stride + row;
      float* const to = slice + k * Tile::template kStride<kRows> + i;
      if constexpr (kWide) {
        copies.Bring(reinterpret_cast<Vector*>(to), from, floats);
      } else {
        copies.Bring(to, from, floats);
      }
    }
  }
};

// Operand whose terms are adjacent or close in memory: element (i, k) is
// data[places.OfRow(i) + places.OfTerm(k)].
template <typename Places>
struct TermsSideBySide {
  const float* data;
  Places places;
  size_t extent;

  template <typename Tile, unsigned kRows>
  GAUNTLET_KERNEL void Bring(const SlicePlace& at, float* slice,
                             LateCopies& copies) const {
    constexpr unsigned kDepth = Tile::kDepth;
    constexpr unsigned kRowsAtOnce = Tile::kThreads / kDepth;
    static_assert(kRows % kRowsAtOnce == 0);
    const unsigned k = at.thread % kDepth;
    const bool there = at.k + k < at.k_end;
    const float* const term = there ? data + places.OfTerm(at.k + k) : data;
    GAUNTLET_UNROLL
    for (unsigned done = 0; done < kRows; done += kRowsAtOnce) {
      const unsigned i = done + at.thread / kDepth;
      const size_t row = at.first + i;
      const bool inside = there && row < extent;
      copies.Bring(slice + k * Tile::template kStride<kRows> + i,
                   inside ? term + places.OfRow(row) : data, inside ? 1u : 0u);
    }
  }
};

struct MatrixPlaces {
  size_t stride;
  GAUNTLET_KERNEL size_t OfRow(size_t i) const { return i * stride; }
  GAUNTLET_KERNEL size_t OfTerm(size_t k) const { return k; }
};

// A tap is one element of a convolution's kernel. Returns the offset in x of
// the value under a tap, relative to the value under the first tap.
GAUNTLET_KERNEL size_t OffsetOfTap(const numerics::ConvolutionShape& s,
                                   size_t tap) {
  const auto channels = static_cast<uint32_t>(s.channels);
  const auto size = static_cast<uint32_t>(s.size);
  const auto number = static_cast<uint32_t>(tap);
  const uint32_t pixel = number / channels;
  return (pixel / size * s.width + pixel % size) * s.channels +
         number % channels;
}

// Operand of a convolution's outputs: its rows are the positions of the kernel
// in the input, its terms are the kernel's taps.
struct PatchPlaces {
  numerics::ConvolutionShape shape;
  GAUNTLET_KERNEL size_t OfRow(size_t place) const {
    return shape.InputOf(place);
  }
  GAUNTLET_KERNEL size_t OfTerm(size_t tap) const {
    return OffsetOfTap(shape, tap);
  }
};

// Operand of the kernel's gradient: its rows are the taps, its terms are the
// positions of the kernel.
struct TapPlaces {
  numerics::ConvolutionShape shape;
  GAUNTLET_KERNEL size_t OfRow(size_t tap) const {
    return OffsetOfTap(shape, tap);
  }
  GAUNTLET_KERNEL size_t OfTerm(size_t place) const {
    return shape.InputOf(place);
  }
};

}  // namespace gauntlet::gpu

#endif  // GAUNTLET_ENGINE_GPU_OPERANDS_H_
