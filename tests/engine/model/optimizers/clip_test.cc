#include "engine/model/optimizers/clip.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/numerics.h"
#include "tests/engine/model/training_loop.h"

namespace gauntlet {
namespace {

using ::testing::ElementsAre;

const ParameterInfo kTwo[] = {{.name = "a", .offset = 0, .size = 2},
                              {.name = "b", .offset = 2, .size = 2}};

std::vector<float> Clipped(ClipKind kind, float limit,
                           std::vector<float> gradients) {
  ClipGradients({.kind = kind, .limit = limit}, *MakeKernels(Isa::kAuto, 1),
                kTwo, gradients);
  return gradients;
}

TEST(ClipTest, ByValueCutsEachElement) {
  EXPECT_THAT(Clipped(ClipKind::kValue, 2.0f, {3, -4, 1, -2}),
              ElementsAre(2, -2, 1, -2));
}

TEST(ClipTest, ByNormScalesEachTensorThatIsTooLong) {
  EXPECT_THAT(Clipped(ClipKind::kNorm, 2.5f, {3, -4, 1.5f, 2}),
              ElementsAre(1.5f, -2, 1.5f, 2));
}

TEST(ClipTest, ByGlobalNormScalesAllOfThemAsOne) {
  EXPECT_THAT(Clipped(ClipKind::kGlobalNorm, 6.5f, {3, -4, 12, 0}),
              ElementsAre(1.5f, -2, 6, 0));
  EXPECT_THAT(Clipped(ClipKind::kGlobalNorm, 13.0f, {3, -4, 12, 0}),
              ElementsAre(3, -4, 12, 0));
}

TEST(ClipTest, NoClippingChangesNothing) {
  EXPECT_THAT(Clipped(ClipKind::kNone, 1.0f, {3, -4, 12, -0.0f}),
              ElementsAre(3, -4, 12, -0.0f));
}

TEST(ClipTest, NanStaysVisible) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const ClipKind kind :
       {ClipKind::kValue, ClipKind::kNorm, ClipKind::kGlobalNorm}) {
    EXPECT_TRUE(std::isnan(Clipped(kind, 1.0f, {nan, 1, 1, 1})[0]));
  }
}

// The norm of finite gradients is infinite too if the sum of their squares
// overflows.
TEST(ClipTest, InfiniteNormScalesByZero) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_THAT(Clipped(ClipKind::kGlobalNorm, 1.0f, {1e30f, -2, 3, 4}),
              ElementsAre(0, -0.0f, 0, 0));
  const std::vector<float> found =
      Clipped(ClipKind::kNorm, 1.0f, {kInfinity, 1, 0.5f, 0.5f});
  EXPECT_TRUE(std::isnan(found[0]));
  EXPECT_THAT(std::vector(found.begin() + 1, found.end()),
              ElementsAre(0, 0.5f, 0.5f));
}

// The order in the numerics contract: a sum in chunks of 256, a root, a
// division, and a product per gradient.
TEST(ClipTest, GlobalNormHasTheContractsOrder) {
  std::vector<float> gradients(700);
  for (size_t i = 0; i < gradients.size(); ++i) {
    gradients[i] = std::sin(static_cast<float>(i)) * 3.0f;
  }
  float total = 0.0f;
  for (size_t begin = 0; begin < 700; begin += 256) {
    float acc = 0.0f;
    for (size_t i = begin; i < std::min<size_t>(begin + 256, 700); ++i) {
      acc = numerics::Fma(gradients[i], gradients[i], acc);
    }
    total = begin == 0 ? acc : total + acc;
  }
  const float scale = 0.75f / numerics::Sqrt(total);
  const ParameterInfo all = {.name = "a", .offset = 0, .size = 700};
  for (const Isa isa : IsasHere()) {
    std::vector<float> found = gradients;
    ClipGradients({.kind = ClipKind::kGlobalNorm, .limit = 0.75f},
                  *MakeKernels(isa, 2), {&all, 1}, found);
    for (size_t i = 0; i < found.size(); ++i) {
      ASSERT_EQ(found[i], gradients[i] * scale) << IsaName(isa) << " " << i;
    }
  }
}

}  // namespace
}  // namespace gauntlet
