// Argument checks that all implementations of Kernels share. The functions
// CHECK that the sizes of arrays match. Those that return a value convert spans
// to the pointers and counts that instruction-set code takes (isa_kernels.h).
#ifndef GAUNTLET_ENGINE_MATH_OPERATION_SIZES_H_
#define GAUNTLET_ENGINE_MATH_OPERATION_SIZES_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>

#include "engine/math/isa_kernels.h"
#include "engine/math/kernels.h"

namespace gauntlet {

Product ProductOf(const MatMulArgs& args);
ColumnBlock ColumnsOf(std::span<const float> x, size_t rows, size_t columns,
                      size_t sums);
void CheckConvolution(const numerics::ConvolutionShape& shape, size_t x,
                      size_t kernel, size_t y);
void CheckBias(const numerics::ConvolutionShape& shape, size_t bias);
// REQUIRES: args.columns > 0 if there are elements.
DropoutRows DropoutRowsOf(const Kernels::DropoutArgs& args, size_t x, size_t y);
CrossEntropyRows LossRowsOf(const LossArgs& args, size_t losses,
                            size_t gradients);
// CHECKs that all arrays of an elementwise operation have `count` elements.
void CheckSizes(size_t count, std::initializer_list<size_t> others);
void CheckDigestBlocks(size_t floats, size_t block_floats, size_t digests);
numerics::AdamRates RatesOf(const AdamArgs& args);
UpdatedPointers PointersOf(const UpdatedArray& array);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_MATH_OPERATION_SIZES_H_
