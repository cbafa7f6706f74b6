#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "engine/digest.h"
#include "engine/numerics.h"

namespace gauntlet::numerics {
namespace {

std::vector<float> RandomFloats(uint64_t key, size_t count) {
  const RandomStream stream = MakeStream(key, Purpose::kInit, 0, 0);
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) {
    const uint32_t word = StreamWord(stream, 0, static_cast<uint32_t>(i));
    values[i] = UniformSymmetric(word, 1.0f);
  }
  return values;
}

Digest DigestOfFloats(const std::vector<float>& values) {
  return DigestOf(std::as_bytes(std::span(values)));
}

TEST(NumericsSumsTest, EmptySumIsPositiveZero) {
  EXPECT_EQ(BitsOf(ChunkedSum(nullptr, 1, 0)), 0u);
  EXPECT_EQ(BitsOf(Dot({}, {}, 0)), 0u);
}

TEST(NumericsSumsTest, SumOfNegativeZerosIsPositiveZero) {
  const std::vector<float> zeros(600, -0.0f);
  EXPECT_EQ(BitsOf(ChunkedSum(zeros.data(), 1, zeros.size())), 0u);
}

// 2^24 absorbs each single 1 that is added to it, but not the sum of a chunk of
// ones.
TEST(NumericsSumsTest, EachChunkHasAnAccumulatorOfItsOwn) {
  std::vector<float> values(2 * kChunk, 1.0f);
  values[0] = 0x1p24f;
  EXPECT_EQ(ChunkedSum(values.data(), 1, kChunk), 0x1p24f);
  EXPECT_EQ(ChunkedSum(values.data(), 1, kChunk + 1), 0x1p24f);
  EXPECT_EQ(ChunkedSum(values.data(), 1, 2 * kChunk), 0x1p24f + 256.0f);
}

TEST(NumericsSumsTest, ChunksAreAddedInAscendingOrder) {
  std::vector<float> values(3 * kChunk, 0.0f);
  values[0] = 0x1p24f;
  values[kChunk] = 1.0f;
  values[2 * kChunk] = 1.0f;
  // (2^24 + 1) + 1, not 2^24 + (1 + 1).
  EXPECT_EQ(ChunkedSum(values.data(), 1, values.size()), 0x1p24f);
}

TEST(NumericsSumsTest, DotFusesEachTerm) {
  const float x = 1.0f + 0x1p-12f;
  const std::vector<float> a = {-(1.0f + 0x1p-11f), x};
  const std::vector<float> b = {1.0f, x};
  EXPECT_EQ(Dot({a.data(), 1}, {b.data(), 1}, 2), 0x1p-24f);
}

TEST(NumericsSumsTest, MatMulAddsTheBiasAfterTheSum) {
  const std::vector<float> a = {0x1p24f, -0x1p24f};
  const std::vector<float> b = {1.0f, 1.0f};
  const float bias = 1.0f;
  float c = 0.0f;
  MatMul({1, 1, 2}, {a.data(), 2, 1}, {b.data(), 1, 1}, &bias, &c, 1);
  EXPECT_EQ(c, 1.0f);  // a bias that came first would be lost
}

TEST(NumericsSumsTest, ProductWithoutTermsIsTheBias) {
  const float bias = -0.0f;
  float c = 7.0f;
  MatMul({1, 1, 0}, {}, {}, &bias, &c, 1);
  EXPECT_EQ(BitsOf(c), 0u);  // +0 + -0
  MatMul({1, 1, 0}, {}, {}, nullptr, &c, 1);
  EXPECT_EQ(BitsOf(c), 0u);
}

TEST(NumericsSumsTest, ReplicasAreAddedOneByOne) {
  const std::vector<float> g = {0x1p24f, 1.0f, 1.0f};
  EXPECT_EQ(ReplicaSum(g.data(), 1, 3), 0x1p24f);
  EXPECT_EQ(ReplicaSum(g.data(), 1, 1), 0x1p24f);
}

TEST(NumericsSumsTest, ArgMaxTakesTheLowestOfEquals) {
  const std::vector<float> x = {1.0f, 3.0f, 3.0f, 2.0f};
  EXPECT_EQ(ArgMax(x.data(), x.size()), 1u);
  const std::vector<float> zeros = {-0.0f, 0.0f};
  EXPECT_EQ(ArgMax(zeros.data(), zeros.size()), 0u);
}

TEST(NumericsSumsTest, CrossEntropyIsNearTheFormula) {
  const std::vector<float> logits = {1.0f, -2.0f, 0.5f};
  std::vector<float> gradients(3);
  const float loss =
      SoftmaxCrossEntropy(logits.data(), 3, 2, 0.5f, gradients.data());
  const double sum = std::exp(1.0) + std::exp(-2.0) + std::exp(0.5);
  EXPECT_NEAR(loss, std::log(sum) - 0.5, 1e-6);
  EXPECT_NEAR(gradients[0], 0.5 * std::exp(1.0) / sum, 1e-7);
  EXPECT_NEAR(gradients[2], 0.5 * (std::exp(0.5) / sum - 1.0), 1e-7);
}

TEST(NumericsSumsTest, CrossEntropyAcceptsHugeLogitsAndWorksInPlace) {
  std::vector<float> logits = {3e38f, -3e38f};
  const float loss =
      SoftmaxCrossEntropy(logits.data(), 2, 0, 1.0f, logits.data());
  EXPECT_EQ(loss, 0.0f);
  EXPECT_EQ(logits[0], 0.0f);
  EXPECT_EQ(logits[1], 0.0f);
}

TEST(NumericsSumsTest, MeanSquaredErrorIsItsFormula) {
  const std::vector<float> outputs = {0.5f, 2.0f};
  std::vector<float> gradients(2);
  const float loss =
      MeanSquaredError(outputs.data(), 2, 1, 0.5f, gradients.data());
  EXPECT_EQ(loss, (0.25f + 1.0f) / 2.0f);
  EXPECT_EQ(gradients[0], 0.25f);
  EXPECT_EQ(gradients[1], 0.5f);
}

// The digests detect a compiler or flag that changes a bit. They change only
// together with kVersion.
TEST(NumericsSumsTest, ResultsOfVersionOneKeepTheirDigests) {
  EXPECT_EQ(kVersion, 1u);
  const std::vector<float> a = RandomFloats(1, 5 * 700);
  const std::vector<float> b = RandomFloats(2, 700 * 7);
  const std::vector<float> bias = RandomFloats(3, 7);
  std::vector<float> c(5 * 7);
  MatMul({5, 7, 700}, {a.data(), 700, 1}, {b.data(), 7, 1}, bias.data(),
         c.data(), 7);
  EXPECT_EQ(DigestOfFloats(c).ToString(), "97dc62eecdb38a655ee19154c680fdee");

  std::vector<float> functions;
  for (const float x : RandomFloats(4, 1000)) {
    functions.insert(functions.end(),
                     {Exp(40.0f * x), Log(x + 1.0f), Tanh(4.0f * x)});
  }
  EXPECT_EQ(DigestOfFloats(functions).ToString(),
            "e3c32d36cd5c77abf21b904d9f8ff164");

  std::vector<float> gradients(1000);
  SoftmaxCrossEntropy(a.data(), 1000, 3, 0.125f, gradients.data());
  EXPECT_EQ(DigestOfFloats(gradients).ToString(),
            "bd9c1029845af82c2aa27853ac5c8382");
}

}  // namespace
}  // namespace gauntlet::numerics
