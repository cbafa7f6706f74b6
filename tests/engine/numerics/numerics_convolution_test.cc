#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "engine/numerics.h"

namespace gauntlet::numerics {
namespace {

std::vector<float> Values(size_t count, uint32_t layer) {
  const RandomStream stream = MakeStream(7, Purpose::kInit, layer, 0);
  std::vector<float> values(count);
  for (uint32_t i = 0; i < count; ++i) {
    values[i] = UniformSymmetric(StreamWord(stream, 0, i), 1.0f);
  }
  return values;
}

struct Arrays {
  explicit Arrays(const ConvolutionShape& s)
      : x(Values(s.samples * s.height * s.width * s.channels, 1)),
        kernel(Values(s.Taps() * s.filters, 2)),
        y(s.Places() * s.filters),
        dy(Values(y.size(), 3)) {}
  std::vector<float> x, kernel, y, dy;
};

std::vector<uint32_t> Bits(const std::vector<float>& values) {
  std::vector<uint32_t> bits;
  for (const float value : values) bits.push_back(BitsOf(value));
  return bits;
}

// A convolution with a kernel of one pixel is a matrix product.
TEST(ConvolutionTest, OnePixelFilterIsAMatrixProduct) {
  const ConvolutionShape s = {3, 11, 9, 300, 1, 5};
  Arrays a(s);
  const std::vector<float> bias = Values(s.filters, 4);
  Convolution(s, a.x.data(), a.kernel.data(), bias.data(), a.y.data());
  std::vector<float> expected(a.y.size());
  MatMul({s.Places(), 5, 300}, {a.x.data(), 300}, {a.kernel.data(), 5},
         bias.data(), expected.data(), 5);
  EXPECT_EQ(Bits(a.y), Bits(expected));

  std::vector<float> gradient(a.kernel.size());
  std::vector<float> expected_gradient(a.kernel.size());
  ConvolutionKernelGradient(s, a.x.data(), a.dy.data(), gradient.data());
  MatMul({300, 5, s.Places()}, {a.x.data(), 1, 300}, {a.dy.data(), 5}, nullptr,
         expected_gradient.data(), 5);
  EXPECT_EQ(Bits(gradient), Bits(expected_gradient));
}

TEST(ConvolutionTest, InputGradientOfOnePixelIsAMatrixProduct) {
  const ConvolutionShape s = {2, 3, 4, 5, 1, 300};
  Arrays a(s);
  std::vector<float> dx(a.x.size());
  std::vector<float> expected(a.x.size());
  ConvolutionInputGradient(s, a.dy.data(), a.kernel.data(), dx.data());
  MatMul({s.Places(), 5, 300}, {a.dy.data(), 300}, {a.kernel.data(), 1, 300},
         nullptr, expected.data(), 5);
  EXPECT_EQ(Bits(dx), Bits(expected));
}

// y[o] = sum x[o + k] w[k] defines each gradient; computed here in double.
TEST(ConvolutionTest, AgreesWithItsDefinitionInDoublePrecision) {
  const ConvolutionShape s = {2, 7, 6, 3, 4, 5};
  Arrays a(s);
  const std::vector<float> bias(s.filters);
  Convolution(s, a.x.data(), a.kernel.data(), bias.data(), a.y.data());
  std::vector<double> y(a.y.size()), dw(a.kernel.size()), dx(a.x.size());
  for (size_t place = 0; place < s.Places(); ++place) {
    for (size_t tap = 0; tap < s.Taps(); ++tap) {
      const size_t ky = tap / s.channels / s.size;
      const size_t kx = tap / s.channels % s.size;
      const size_t from = s.InputOf(place) + (ky * s.width + kx) * s.channels +
                          tap % s.channels;
      for (size_t f = 0; f < s.filters; ++f) {
        const size_t to = place * s.filters + f;
        const size_t w = tap * s.filters + f;
        y[to] += double{a.x[from]} * a.kernel[w];
        dw[w] += double{a.x[from]} * a.dy[to];
        dx[from] += double{a.dy[to]} * a.kernel[w];
      }
    }
  }
  std::vector<float> gradient(dw.size()), inputs(dx.size());
  ConvolutionKernelGradient(s, a.x.data(), a.dy.data(), gradient.data());
  ConvolutionInputGradient(s, a.dy.data(), a.kernel.data(), inputs.data());
  for (size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(a.y[i], y[i], 1e-5);
  for (size_t i = 0; i < dw.size(); ++i) EXPECT_NEAR(gradient[i], dw[i], 1e-5);
  for (size_t i = 0; i < dx.size(); ++i) EXPECT_NEAR(inputs[i], dx[i], 1e-5);
}

// A tap outside of the output adds nothing, not even +0 * w, which would be NaN
// for an infinite weight.
TEST(ConvolutionTest, TapOutsideIsSkippedAndNotMultipliedByZero) {
  const ConvolutionShape s = {1, 2, 2, 1, 2, 1};
  const float kernel[] = {1.0f, INFINITY, 3.0f, 4.0f};
  const float dy[] = {2.0f};
  float dx[4];
  ConvolutionInputGradient(s, dy, kernel, dx);
  EXPECT_EQ(dx[0], 2.0f);
  EXPECT_EQ(dx[1], INFINITY);
  EXPECT_EQ(dx[2], 6.0f);
  EXPECT_EQ(dx[3], 8.0f);
}

// Two taps of 200 filters: the chunk ends within the second tap, although the
// first is skipped at the left edge.
TEST(ConvolutionTest, ChunksOfTheInputGradientCountSkippedTaps) {
  const ConvolutionShape s = {1, 3, 3, 1, 2, 200};
  Arrays a(s);
  const float found =
      ConvolutionInputElement(s, a.dy.data(), a.kernel.data(), {0, 0, 2, 0});
  // For pixel (0, 2) only tap (0, 1) counts, with output (0, 1): k = 200 ...
  // 399.
  const float* const dy = a.dy.data() + 200;
  const float* const w = a.kernel.data() + 200;
  float first = 0.0f;
  for (size_t f = 0; f < 56; ++f) first = Fma(dy[f], w[f], first);
  float second = 0.0f;
  for (size_t f = 56; f < 200; ++f) second = Fma(dy[f], w[f], second);
  float rest = 0.0f;  // k = 512 ... 767 and 768 ... 799 add nothing
  EXPECT_EQ(BitsOf(found), BitsOf(first + second + rest + rest));
  EXPECT_NE(BitsOf(found), BitsOf(Dot({dy, 1}, {w, 1}, 200)));
}

}  // namespace
}  // namespace gauntlet::numerics
