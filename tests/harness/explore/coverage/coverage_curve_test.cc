#include "harness/explore/coverage/coverage_curve.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

TEST(CoverageCurveTest, KeepsTheCasesWithNewCoverage) {
  CoverageCurve curve;
  curve.Add({.cases = 1});
  curve.Add({.cases = 2, .points = 3, .pairs = 1, .goals = 2});
  curve.Add({.cases = 3, .points = 3, .pairs = 1, .goals = 2});
  curve.Add({.cases = 4, .points = 3, .pairs = 2, .goals = 2});
  ASSERT_EQ(curve.samples().size(), 2u);
  EXPECT_EQ(curve.samples()[0].cases, 2u);
  EXPECT_EQ(curve.samples()[1].cases, 4u);
}

TEST(CoverageCurveTest, DropsTheClosestSamples) {
  CoverageCurve curve;
  for (uint64_t i = 1; i <= 1000; ++i) curve.Add({.cases = i, .pairs = i});
  for (uint64_t i = 1; i <= 300; ++i) {
    curve.Add({.cases = 1000 + i * 100, .pairs = 1000 + i});
  }
  const auto& samples = curve.samples();
  EXPECT_EQ(samples.size(), CoverageCurve::kMostSamples);
  EXPECT_EQ(samples.front().cases, 1u);
  EXPECT_EQ(samples.back().cases, 31000u);
  EXPECT_EQ(std::ranges::count_if(
                samples, [](const auto& one) { return one.cases > 1000; }),
            300);
}

}  // namespace
}  // namespace gauntlet
