// Functions that a file compiled for one instruction set provides to
// engine/math/kernels.cc.
//
// This header and the files that implement it use plain pointers and nothing of
// the standard library: the linker may keep one copy of an inline function for
// the whole program, and that copy could be one compiled with -mavx512f.
#ifndef GAUNTLET_ENGINE_MATH_ISA_KERNELS_H_
#define GAUNTLET_ENGINE_MATH_ISA_KERNELS_H_

#include <cstddef>
#include <cstdint>

#include "engine/numerics.h"

namespace gauntlet {

// c(i, j) = sum over k of a(i, k) * b(k, j), plus bias[j] unless null. One
// stride of a is 1, and so is one of b.
struct Product {
  numerics::ProductShape shape;
  numerics::MatrixView a;
  numerics::MatrixView b;
  float* c = nullptr;
  size_t ldc = 0;
  const float* bias = nullptr;
};

// Columns [0, columns) of an array of `rows` rows that are `row_stride` floats
// apart.
struct ColumnBlock {
  const float* x = nullptr;
  size_t rows = 0;
  size_t row_stride = 0;
  size_t columns = 0;
};

// Rows of a convolution's input gradient: row r is row r % height of sample
// r / height.
struct ConvolutionInputRows {
  numerics::ConvolutionShape shape;
  const float* dy = nullptr;
  const float* kernel = nullptr;
  // The kernel with channels after filters.
  const float* swapped_kernel = nullptr;
  size_t first_row = 0;
  size_t rows = 0;
};

// Consecutive elements of an array, from the start of a row; the last row may
// be incomplete.
struct DropoutRows {
  numerics::RandomStream stream;
  uint64_t first_row = 0;
  size_t columns = 0;
  float rate = 0.0f;
  size_t count = 0;  // elements
};

struct CrossEntropyRows {
  const float* logits = nullptr;
  const uint8_t* labels = nullptr;
  size_t rows = 0;
  size_t classes = 0;
  float scale = 0.0f;
};

// Pointers to an array's current values, and to the place for its new values.
struct UpdatedPointers {
  const float* from = nullptr;
  float* to = nullptr;

  UpdatedPointers At(size_t place) const { return {from + place, to + place}; }
};

struct AdamArrays {
  const float* gradients = nullptr;
  UpdatedPointers parameters;
  UpdatedPointers m;
  UpdatedPointers v;
};

struct SgdRates {
  float rate = 0.0f;
  float momentum = 0.0f;
};

// Two arrays passed to one call are either the same or disjoint.
struct IsaKernels {
  // A product may be split at multiples of these without loss of speed.
  size_t row_unit;
  size_t column_unit;
  // Floats of scratch memory, aligned to 64 bytes, that `product` needs.
  size_t (*product_scratch)(const Product& product);
  void (*product)(const Product& product, float* scratch);
  void (*column_sums)(const ColumnBlock& block, float* out);
  void (*convolution_input_gradient)(const ConvolutionInputRows& rows,
                                     float* dx);
  void (*activate)(numerics::Activation activation, const float* x, float* y,
                   size_t count);
  void (*activation_gradient)(numerics::Activation activation, const float* x,
                              const float* dy, float* dx, size_t count);
  void (*dropout)(const DropoutRows& rows, const float* x, float* y);
  void (*accumulate)(const float* x, float* acc, size_t count);
  void (*cross_entropy)(const CrossEntropyRows& rows, float* losses,
                        float* gradients);
  void (*adam)(const numerics::AdamRates& rates, const AdamArrays& arrays,
               size_t count);
  void (*sgd_momentum)(const SgdRates& rates, const float* gradients,
                       const UpdatedPointers& parameters,
                       const UpdatedPointers& velocity, size_t count);
  void (*sgd)(float rate, const float* gradients,
              const UpdatedPointers& parameters, size_t count);
  float (*sum_of_squares)(const float* x, size_t count);
  void (*scale)(float factor, float* x, size_t count);
  void (*clip_values)(float limit, float* x, size_t count);
};

// Each may be called only if the machine has the instructions (kScalar: FMA3,
// which every path needs).
const IsaKernels& ScalarKernels();
const IsaKernels& Avx2Kernels();
const IsaKernels& Avx512Kernels();

// Products as Eigen computes them for the instruction set, on one thread and
// outside the contract. Eigen's headers do use the standard library. So each of
// these functions is in a file of its own, and each file puts Eigen under a
// namespace of its own.
void ScalarEigenProduct(const Product& product);
void Avx2EigenProduct(const Product& product);
void Avx512EigenProduct(const Product& product);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_MATH_ISA_KERNELS_H_
