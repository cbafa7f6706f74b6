#include "engine/math/operation_sizes.h"

#include "engine/check.h"
#include <fmt/core.h>

namespace gauntlet {

Product ProductOf(const MatMulArgs& args) {
  const bool a_transposed = args.transpose_a == Transpose::kYes;
  const bool b_transposed = args.transpose_b == Transpose::kYes;
  if (args.m > 0 && args.n > 0) {
    CHECK(args.lda >= (a_transposed ? args.m : args.k), "rows of a overlap");
    CHECK(args.ldb >= (b_transposed ? args.k : args.n), "rows of b overlap");
    CHECK(args.ldc >= args.n, "rows of c overlap");
  }
  return {
      .shape = {args.m, args.n, args.k},
      .a = {args.a, a_transposed ? 1 : args.lda, a_transposed ? args.lda : 1},
      .b = {args.b, b_transposed ? 1 : args.ldb, b_transposed ? args.ldb : 1},
      .c = args.c,
      .ldc = args.ldc,
      .bias = args.bias};
}

ColumnBlock ColumnsOf(std::span<const float> x, size_t rows, size_t columns,
                      size_t sums) {
  CHECK(x.size() == rows * columns && sums == columns,
        "x is rows x columns, out has a float a column");
  return {x.data(), rows, columns, columns};
}

void CheckConvolution(const numerics::ConvolutionShape& shape, size_t x,
                      size_t kernel, size_t y) {
  CHECK(shape.size >= 1 && shape.size <= shape.height &&
            shape.size <= shape.width && shape.channels >= 1 &&
            shape.filters >= 1,
        "a kernel fits into its input");
  CHECK(x == shape.samples * shape.height * shape.width * shape.channels &&
            kernel == shape.Taps() * shape.filters &&
            y == shape.Places() * shape.filters,
        "arrays of the convolution's sizes");
}

void CheckBias(const numerics::ConvolutionShape& shape, size_t bias) {
  CHECK(bias == shape.filters, "a bias a filter");
}

DropoutRows DropoutRowsOf(const Kernels::DropoutArgs& args, size_t x,
                          size_t y) {
  CHECK(x == y, "as many outputs as inputs");
  CHECK(args.rate >= 0.0f && args.rate < 1.0f, "a rate lies in [0, 1)");
  CHECK(x == 0 || args.columns > 0, "rows have columns");
  const numerics::RandomStream stream = numerics::MakeStream(
      args.rng_key, numerics::Purpose::kDropout, args.layer, args.step);
  return {stream, args.first_row, args.columns, args.rate, x};
}

CrossEntropyRows LossRowsOf(const LossArgs& rows, size_t losses,
                            size_t gradients) {
  const size_t count = rows.labels.size();
  CHECK(rows.outputs.size() == count * rows.classes,
        "a row of outputs for each label");
  CHECK(gradients == rows.outputs.size() && losses == count,
        "a loss a row and a gradient an output");
  return {rows.outputs.data(), rows.labels.data(), count, rows.classes,
          rows.scale};
}

void CheckSizes(size_t count, std::initializer_list<size_t> others) {
  for (const size_t other : others) {
    CHECK(other == count, "arrays of one operation are equally long");
  }
}

void CheckDigestBlocks(size_t floats, size_t block_floats, size_t digests) {
  CHECK(block_floats > 0 && block_floats % 256 == 0,
        fmt::format("blocks of a multiple of 256 floats, found {}",
                    block_floats));
  const size_t blocks = (floats + block_floats - 1) / block_floats;
  CHECK(digests == 2 * blocks, fmt::format("two numbers for each of {} blocks, "
                                           "found {}",
                                           blocks, digests));
  const size_t last = floats % block_floats;
  CHECK(last == 0 || last > kMaxShortDigestFloats,
        fmt::format("no block of few floats, found one of {}", last));
}

numerics::AdamRates RatesOf(const AdamArgs& args) {
  return {args.step_size, args.beta1, args.beta2, args.epsilon};
}

UpdatedPointers PointersOf(const UpdatedArray& array) {
  CHECK(array.from.size() == array.to.size(),
        "an array keeps its size in an update");
  return {array.from.data(), array.to.data()};
}

}  // namespace gauntlet
