#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

#include "engine/numerics.h"

namespace gauntlet::numerics {
namespace {

TEST(NumericsUpdatesTest, ReluKeepsNanAndHasNoNegativeZero) {
  EXPECT_EQ(Relu(2.0f), 2.0f);
  EXPECT_EQ(BitsOf(Relu(-2.0f)), 0u);
  EXPECT_EQ(BitsOf(Relu(-0.0f)), 0u);
  EXPECT_TRUE(std::isnan(Relu(std::numeric_limits<float>::quiet_NaN())));
}

TEST(NumericsUpdatesTest, ReluGradientIsZeroAtZero) {
  EXPECT_EQ(ReluGradient(0x1p-149f, -3.0f), -3.0f);
  EXPECT_EQ(BitsOf(ReluGradient(0.0f, -3.0f)), 0u);
  EXPECT_EQ(BitsOf(ReluGradient(-1.0f, -3.0f)), 0u);
}

double ExactCdf(double x) { return erfc(-x / M_SQRT2) / 2; }

TEST(NumericsUpdatesTest, GeluOfSpecialValues) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(BitsOf(Gelu(0.0f)), 0u);
  EXPECT_EQ(BitsOf(Gelu(-0.0f)), BitsOf(-0.0f));
  EXPECT_EQ(Gelu(kInfinity), kInfinity);
  EXPECT_EQ(Gelu(1e38f), 1e38f);
  EXPECT_EQ(Gelu(-1e38f), 0.0f);
  EXPECT_EQ(Gelu(-kInfinity), 0.0f);
  EXPECT_TRUE(std::isnan(Gelu(std::numeric_limits<float>::quiet_NaN())));
  EXPECT_EQ(GeluGradient(0.0f, 3.0f), 1.5f);
  for (const float x : {16.0f, 1e38f, kInfinity}) {
    EXPECT_EQ(GeluGradient(x, 3.0f), 3.0f) << x;
    EXPECT_EQ(GeluGradient(-x, 3.0f), 0.0f) << x;
  }
}

// A prime as the stride: see numerics_math_test.cc.
TEST(NumericsUpdatesTest, GeluStaysWithinItsStatedErrors) {
  double worst = 0.0;
  double worst_gradient = 0.0;
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += 4099) {
    const float x = FloatOf(static_cast<uint32_t>(bits));
    if (!std::isfinite(x) || std::abs(x) < 0x1p-126f) continue;
    const double exact = ExactCdf(x);
    const double density = exp(-0.5 * double{x} * x) / std::sqrt(2.0 * M_PI);
    worst = std::max(worst, std::abs(Gelu(x) / double{x} - exact));
    worst_gradient = std::max(worst_gradient, std::abs(GeluGradient(x, 1.0f) -
                                                       (exact + x * density)));
  }
  EXPECT_LE(worst, 1.94 * 0x1p-24);
  EXPECT_LE(worst_gradient, 2.4 * 0x1p-24);
  EXPECT_GT(worst, 0.5 * 0x1p-24) << "nothing was measured";
  EXPECT_GT(worst_gradient, 0.5 * 0x1p-24) << "nothing was measured";
}

TEST(NumericsUpdatesTest, DropoutScaleKeepsTheMean) {
  EXPECT_EQ(DropoutScale(0.0f), 1.0f);
  EXPECT_EQ(DropoutScale(0.5f), 2.0f);
}

TEST(NumericsUpdatesTest, AdamsFirstStepMovesByAboutTheLearningRate) {
  const float step_size = AdamStepSize(0.001f, 0.9f, 0.999f);
  const AdamRates rates = {step_size, 0.9f, 0.999f, 1e-7f};
  const AdamElement next = AdamUpdate(rates, 5.0f, {1.0f, 0.0f, 0.0f});
  EXPECT_NEAR(next.parameter, 1.0f - 0.001f, 1e-6f);
  EXPECT_NEAR(next.m, 0.5f, 1e-6f);
  EXPECT_NEAR(next.v, 0.025f, 1e-6f);
}

TEST(NumericsUpdatesTest, AdamWithoutGradientStaysFinite) {
  const AdamElement next =
      AdamUpdate({0.001f, 0.9f, 0.999f, 1e-7f}, 0.0f, {1.0f, 0.0f, 0.0f});
  EXPECT_EQ(next.parameter, 1.0f);
}

TEST(NumericsUpdatesTest, SgdFusesAndMomentumRemembers) {
  const float x = 1.0f + 0x1p-12f;
  EXPECT_EQ(SgdUpdate(x, x, 1.0f + 0x1p-11f), -0x1p-24f);
  EXPECT_EQ(MomentumVelocity(0.5f, 0.25f, 2.0f, 4.0f), 0.0f);
}

}  // namespace
}  // namespace gauntlet::numerics
