#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

#include "engine/numerics.h"

namespace gauntlet::numerics {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kDenormal = 0x1p-149f;
// Distance between the bit patterns of the tested floats. It is prime, so that
// the floats have every exponent and, over the whole range, all low bits.
constexpr uint64_t kStride = 4099;

struct Function {
  const char* name;
  float (*ours)(float);
  double (*exact)(double);
  double limit_ulp;  // as stated in numerics_math.h
};
const Function kFunctions[] = {
    {"Exp", [](float x) { return Exp(x); }, [](double x) { return exp(x); },
     0.90},
    {"Log", [](float x) { return Log(x); }, [](double x) { return log(x); },
     0.80},
    {"Tanh", [](float x) { return Tanh(x); }, [](double x) { return tanh(x); },
     1.37},
    {"Erf", [](float x) { return Erf(x); }, [](double x) { return erf(x); },
     1.11},
};

// Returns the error in units in the last place of the exact result; 0 for two
// NaNs or equal infinities.
double ErrorUlp(float ours, double exact) {
  if (std::isnan(exact)) return std::isnan(ours) ? 0.0 : 1e9;
  if (std::isinf(ours) || std::isinf(static_cast<float>(exact))) {
    return ours == static_cast<float>(exact) ? 0.0 : 1e9;
  }
  int exponent = 0;
  std::frexp(exact, &exponent);
  const double ulp = std::ldexp(1.0, std::max(exponent, -125) - 24);
  return std::abs(static_cast<double>(ours) - exact) / ulp;
}

TEST(NumericsMathTest, FunctionsStayWithinTheirStatedErrors) {
  for (const Function& function : kFunctions) {
    double worst = 0.0;
    float at = 0.0f;
    for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += kStride) {
      const float x = FloatOf(static_cast<uint32_t>(bits));
      const double error = ErrorUlp(function.ours(x), function.exact(x));
      if (error > worst) at = x;
      worst = std::max(worst, error);
    }
    EXPECT_LE(worst, function.limit_ulp) << function.name << " at " << at;
    EXPECT_GT(worst, 0.5) << function.name << ": nothing was measured";
  }
}

double CosPiInDoubles(double x) {
  const double a = std::min(x, 1.0 - x);
  const double cosine = a > 0.25 ? sin(M_PI * (0.5 - a)) : cos(M_PI * a);
  return x > 0.5 ? -cosine : cosine;
}

TEST(NumericsMathTest, CosPiStaysWithinItsStatedError) {
  double worst = 0.0;
  const uint32_t end = BitsOf(1.0f);
  for (uint32_t bits = 0x38000000u; bits <= end; bits += 101) {
    const float x = FloatOf(bits);
    worst = std::max(worst, ErrorUlp(CosPi(x), CosPiInDoubles(x)));
  }
  EXPECT_LE(worst, 1.03);
  EXPECT_GT(worst, 0.5);
}

TEST(NumericsMathTest, CosPiIsExactAtItsEdgesAndOddAboutTheMiddle) {
  EXPECT_EQ(BitsOf(CosPi(0.0f)), BitsOf(1.0f));
  EXPECT_EQ(CosPi(kDenormal), 1.0f);
  EXPECT_EQ(BitsOf(CosPi(0.5f)), 0u);
  EXPECT_EQ(CosPi(1.0f), -1.0f);
  EXPECT_TRUE(std::isnan(CosPi(kNan)));
  for (int i = 1; i < 1024; ++i) {
    const float x = static_cast<float>(i) / 2048;
    EXPECT_EQ(CosPi(1.0f - x), -CosPi(x)) << x;
  }
}

TEST(NumericsMathTest, ExpOfSpecialValues) {
  EXPECT_EQ(BitsOf(Exp(0.0f)), BitsOf(1.0f));
  EXPECT_EQ(BitsOf(Exp(-0.0f)), BitsOf(1.0f));
  EXPECT_EQ(Exp(kInfinity), kInfinity);
  EXPECT_EQ(BitsOf(Exp(-kInfinity)), 0u);
  EXPECT_TRUE(std::isnan(Exp(kNan)));
  EXPECT_TRUE(std::isnan(Exp(-kNan)));
  EXPECT_EQ(Exp(kDenormal), 1.0f);
  EXPECT_EQ(Exp(89.0f), kInfinity);
  EXPECT_EQ(Exp(-103.5f), kDenormal);  // gradual underflow, not a flush
}

TEST(NumericsMathTest, LogOfSpecialValues) {
  EXPECT_EQ(BitsOf(Log(1.0f)), 0u);
  EXPECT_EQ(Log(0.0f), -kInfinity);
  EXPECT_EQ(Log(-0.0f), -kInfinity);
  EXPECT_EQ(Log(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(Log(-1.0f)));
  EXPECT_TRUE(std::isnan(Log(-kInfinity)));
  EXPECT_TRUE(std::isnan(Log(kNan)));
  EXPECT_NEAR(Log(kDenormal), -103.27893f, 1e-5f);
}

TEST(NumericsMathTest, TanhOfSpecialValues) {
  EXPECT_EQ(BitsOf(Tanh(0.0f)), 0u);
  EXPECT_EQ(BitsOf(Tanh(-0.0f)), BitsOf(-0.0f));
  EXPECT_EQ(Tanh(kInfinity), 1.0f);
  EXPECT_EQ(Tanh(-kInfinity), -1.0f);
  EXPECT_TRUE(std::isnan(Tanh(kNan)));
  EXPECT_EQ(Tanh(kDenormal), kDenormal);
}

TEST(NumericsMathTest, ErfOfSpecialValues) {
  EXPECT_EQ(BitsOf(Erf(0.0f)), 0u);
  EXPECT_EQ(BitsOf(Erf(-0.0f)), BitsOf(-0.0f));
  EXPECT_EQ(Erf(kInfinity), 1.0f);
  EXPECT_EQ(Erf(-kInfinity), -1.0f);
  EXPECT_TRUE(std::isnan(Erf(kNan)));
  EXPECT_EQ(Erf(kDenormal), kDenormal);
}

TEST(NumericsMathTest, TanhAndErfAreOdd) {
  for (uint64_t bits = 0; bits < (uint64_t{1} << 31); bits += 65537) {
    const float x = FloatOf(static_cast<uint32_t>(bits));
    if (std::isnan(x)) continue;
    ASSERT_EQ(BitsOf(Tanh(-x)), BitsOf(-Tanh(x))) << x;
    ASSERT_EQ(BitsOf(Erf(-x)), BitsOf(-Erf(x))) << x;
  }
}

TEST(NumericsMathTest, FmaRoundsOnce) {
  const float x = 1.0f + 0x1p-12f;
  EXPECT_EQ(Fma(x, x, -(1.0f + 0x1p-11f)), 0x1p-24f);
  const float product = x * x;
  EXPECT_EQ(product - (1.0f + 0x1p-11f), 0.0f);  // not 0 if contracted
}

}  // namespace
}  // namespace gauntlet::numerics
