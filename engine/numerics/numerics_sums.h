// Part of engine/numerics.h: sums over many terms, and functions based on them.
//
// A sum over k = 0 .. count-1 has one form. Each chunk of kChunk consecutive k
// has an accumulator of its own that starts at +0 and adds its terms in
// ascending order. The total starts as the first chunk's result; the other
// chunks' results are added to it in ascending order, one plain addition each.
// No terms: +0. So threads may split the sum at multiples of kChunk, and
// nowhere else. Padding with zero terms is forbidden (it turns a -0 into +0).
#ifndef GAUNTLET_ENGINE_NUMERICS_NUMERICS_SUMS_H_
#define GAUNTLET_ENGINE_NUMERICS_NUMERICS_SUMS_H_

#include <cstddef>
#include <cstdint>

#include "engine/numerics/numerics_math.h"

namespace gauntlet::numerics {

inline constexpr size_t kChunk = 256;

// Returns the sum of `count` floats that are `stride` floats apart.
GAUNTLET_NUMERIC float ChunkedSum(const float* x, size_t stride, size_t count) {
  float total = 0.0f;
  for (size_t begin = 0; begin < count; begin += kChunk) {
    const size_t end = count - begin < kChunk ? count : begin + kChunk;
    float acc = 0.0f;
    for (size_t i = begin; i < end; ++i) acc = acc + x[i * stride];
    total = begin == 0 ? acc : total + acc;
  }
  return total;
}

// Floats that are `stride` floats apart.
struct Strided {
  const float* data = nullptr;
  size_t stride = 1;
};

// Returns the sum over k of a[k] * b[k], each term fused into its accumulator.
GAUNTLET_NUMERIC float Dot(Strided a, Strided b, size_t count) {
  float total = 0.0f;
  for (size_t begin = 0; begin < count; begin += kChunk) {
    const size_t end = count - begin < kChunk ? count : begin + kChunk;
    float acc = 0.0f;
    for (size_t k = begin; k < end; ++k) {
      acc = Fma(a.data[k * a.stride], b.data[k * b.stride], acc);
    }
    total = begin == 0 ? acc : total + acc;
  }
  return total;
}

// Element (i, j) is data[i * row_stride + j * column_stride].
struct MatrixView {
  const float* data = nullptr;
  size_t row_stride = 0;
  size_t column_stride = 1;
};

struct ProductShape {
  size_t m = 0;
  size_t n = 0;
  size_t k = 0;
};

// c[i * ldc + j] = sum over k of a(i, k) * b(k, j), then + bias[j] as one plain
// addition, unless bias is null.
// NOLINTNEXTLINE(readability-function-size): each parameter is an operand
GAUNTLET_NUMERIC void MatMul(const ProductShape& shape, const MatrixView& a,
                             const MatrixView& b, const float* bias, float* c,
                             size_t ldc) {
  for (size_t i = 0; i < shape.m; ++i) {
    for (size_t j = 0; j < shape.n; ++j) {
      const float sum =
          Dot({a.data + i * a.row_stride, a.column_stride},
              {b.data + j * b.column_stride, b.row_stride}, shape.k);
      c[i * ldc + j] = bias == nullptr ? sum : sum + bias[j];
    }
  }
}

// out[j] = sum over i of x[i * columns + j].
GAUNTLET_NUMERIC void ColumnSums(const float* x, size_t rows, size_t columns,
                                 float* out) {
  for (size_t j = 0; j < columns; ++j) {
    out[j] = ChunkedSum(x + j, columns, rows);
  }
}

// Returns the global value of `replicas` partial values that are `stride`
// floats apart: ((g0 + g1) + g2) + ... REQUIRES: replicas > 0.
GAUNTLET_NUMERIC float ReplicaSum(const float* values, size_t stride,
                                  size_t replicas) {
  float total = values[0];
  for (size_t r = 1; r < replicas; ++r) total = total + values[r * stride];
  return total;
}

// Returns the mean of the same values: their ReplicaSum, then one division.
GAUNTLET_NUMERIC float ReplicaMean(const float* values, size_t stride,
                                   size_t replicas) {
  return ReplicaSum(values, stride, replicas) / static_cast<float>(replicas);
}

// Returns the index of the largest value, the lowest one if several are equal.
// A NaN never counts as larger; a NaN at index 0 stays. REQUIRES: count > 0.
GAUNTLET_NUMERIC size_t ArgMax(const float* x, size_t count) {
  size_t best = 0;
  for (size_t i = 1; i < count; ++i) best = x[i] > x[best] ? i : best;
  return best;
}

// One row of softmax cross entropy: returns -ln softmax(logits)[label] and
// writes gradients[j] = (softmax(logits)[j] - (j == label)) * scale. The two
// arrays may be the same. REQUIRES: label < classes.
GAUNTLET_NUMERIC float SoftmaxCrossEntropy(const float* logits, size_t classes,
                                           size_t label, float scale,
                                           float* gradients) {
  float max = logits[0];  // order-free: a maximum does not round
  for (size_t j = 1; j < classes; ++j) max = logits[j] > max ? logits[j] : max;
  const float shifted_label = logits[label] - max;
  for (size_t j = 0; j < classes; ++j) gradients[j] = Exp(logits[j] - max);
  const float sum = ChunkedSum(gradients, 1, classes);
  for (size_t j = 0; j < classes; ++j) {
    const float probability = gradients[j] / sum;
    const float target = j == label ? 1.0f : 0.0f;
    gradients[j] = (probability - target) * scale;
  }
  return Log(sum) - shifted_label;
}

// One row of mean squared error against a one-hot target. With d[j] =
// outputs[j] - (j == label), returns the sum over j of d[j] * d[j] (fused),
// divided by `classes`. Writes gradients[j] = (2 * d[j] / classes) * scale. The
// two arrays may be the same. REQUIRES: label < classes.
GAUNTLET_NUMERIC float MeanSquaredError(const float* outputs, size_t classes,
                                        size_t label, float scale,
                                        float* gradients) {
  const float count = static_cast<float>(classes);
  for (size_t j = 0; j < classes; ++j) {
    gradients[j] = outputs[j] - (j == label ? 1.0f : 0.0f);
  }
  const float sum = Dot({gradients, 1}, {gradients, 1}, classes);
  for (size_t j = 0; j < classes; ++j) {
    gradients[j] = ((2.0f * gradients[j]) / count) * scale;
  }
  return sum / count;
}

// Returns the factor on the losses of a step's rows: one division. REQUIRES: 0
// < rows <= 2^24.
GAUNTLET_NUMERIC float LossScale(uint64_t rows) {
  return 1.0f / static_cast<float>(rows);
}

// Returns the running loss of an epoch after one more step. It grows by one
// addition a step and is part of the state, so it is not summed in chunks.
GAUNTLET_NUMERIC float AddStepLoss(float sum, float mean_loss, uint64_t rows) {
  const float step = mean_loss * static_cast<float>(rows);
  return sum + step;
}

// Returns the mean loss of an epoch of `rows` rows.
GAUNTLET_NUMERIC float EpochLoss(float sum, uint64_t rows) {
  return sum / static_cast<float>(rows);
}

}  // namespace gauntlet::numerics

#endif  // GAUNTLET_ENGINE_NUMERICS_NUMERICS_SUMS_H_
