#include <cmath>
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
