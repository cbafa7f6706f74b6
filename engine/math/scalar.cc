// The reference implementation, one element at a time. Compiled for FMA3, so
// that Fma is an instruction and not a library call, and without vectorization.
#include "engine/math/isa_kernels.h"

namespace gauntlet {
namespace {

#include "engine/math/elementwise.inc"

size_t NoScratch(const Product&) { return 0; }

void ReferenceProduct(const Product& p, float*) {
  numerics::MatMul(p.shape, p.a, p.b, p.bias, p.c, p.ldc);
}

void ReferenceColumnSums(const ColumnBlock& block, float* out) {
  for (size_t j = 0; j < block.columns; ++j) {
    out[j] = numerics::ChunkedSum(block.x + j, block.row_stride, block.rows);
  }
}

float ReferenceSumOfSquares(const float* x, size_t count) {
  return numerics::Dot({x, 1}, {x, 1}, count);
}

void ReferenceInputGradient(const ConvolutionInputRows& part, float* dx) {
  const numerics::ConvolutionShape& s = part.shape;
  for (size_t row = part.first_row; row < part.first_row + part.rows; ++row) {
    for (size_t x = 0; x < s.width; ++x) {
      for (size_t c = 0; c < s.channels; ++c) {
        dx[s.InputAt(0, row, x) + c] = numerics::ConvolutionInputElement(
            s, part.dy, part.kernel, {row / s.height, row % s.height, x, c});
      }
    }
  }
}

void ReferenceDropout(const DropoutRows& rows, const float* x, float* y) {
  const float scale = numerics::DropoutScale(rows.rate);
  for (size_t i = 0; i < rows.count; ++i) {
    const uint32_t word =
        numerics::StreamWord(rows.stream, rows.first_row + i / rows.columns,
                             static_cast<uint32_t>(i % rows.columns));
    y[i] = numerics::WordKeeps(word, rows.rate) ? x[i] * scale : 0.0f;
  }
}

constexpr IsaKernels kKernels = {
    .row_unit = 1,
    .column_unit = 1,
    .product_scratch = NoScratch,
    .product = ReferenceProduct,
    .column_sums = ReferenceColumnSums,
    .convolution_input_gradient = ReferenceInputGradient,
    .activate = Activate,
    .activation_gradient = ActivationGradient,
    .dropout = ReferenceDropout,
    .accumulate = Accumulate,
    .cross_entropy = CrossEntropy,
    .adam = Adam,
    .sgd_momentum = SgdMomentum,
    .sgd = Sgd,
    .sum_of_squares = ReferenceSumOfSquares,
    .scale = Scale,
    .clip_values = ClipValues,
};

}  // namespace

const IsaKernels& ScalarKernels() { return kKernels; }

}  // namespace gauntlet
