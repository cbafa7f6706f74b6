#include "engine/model/optimizers/schedule.h"

#include <cmath>
#include <functional>

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

OptimizerSpec With(ScheduleSpec schedule) {
  OptimizerSpec spec{.learning_rate = 0.1f};
  spec.schedule = std::move(schedule);
  return spec;
}

TEST(LearningRateTest, IsConstantIfNothingElseIsAsked) {
  for (const uint64_t update : {uint64_t{0}, uint64_t{1}, uint64_t{1} << 60}) {
    EXPECT_EQ(LearningRate(With({}), update), 0.1f);
  }
}

struct Formula {
  const char* name;
  ScheduleSpec schedule;
  std::function<double(double update)> rate;
};

const Formula kFormulas[] = {
    {"exponential decay",
     {.kind = ScheduleKind::kExponentialDecay, .steps = 7, .rate = 0.5f},
     [](double u) { return 0.1 * std::pow(0.5, u / 7); }},
    {"in stairs",
     {.kind = ScheduleKind::kExponentialDecay,
      .steps = 7,
      .rate = 0.5f,
      .staircase = true},
     [](double u) { return 0.1 * std::pow(0.5, std::floor(u / 7)); }},
    {"cosine decay",
     {.kind = ScheduleKind::kCosineDecay, .steps = 40, .alpha = 0.1f},
     [](double u) {
       const double cosine =
           0.5 * (1 + std::cos(M_PI * std::min(u, 40.0) / 40));
       return 0.1 * (0.9 * cosine + 0.1);
     }},
    {"warm-up",
     {.warmup = 5},
     [](double u) { return u < 5 ? 0.1 * (u + 1) / 5 : 0.1; }},
    {"warm-up before a decay",
     {.kind = ScheduleKind::kExponentialDecay,
      .warmup = 4,
      .steps = 3,
      .rate = 0.25f},
     [](double u) {
       return u < 4 ? 0.1 * (u + 1) / 4 : 0.1 * std::pow(0.25, (u - 4) / 3);
     }},
};

TEST(LearningRateTest, FollowsItsFormula) {
  for (const Formula& formula : kFormulas) {
    for (uint64_t update = 0; update < 60; ++update) {
      const double expected = formula.rate(static_cast<double>(update));
      EXPECT_NEAR(LearningRate(With(formula.schedule), update), expected,
                  expected * 4e-6)
          << formula.name << ", update " << update;
    }
  }
}

TEST(LearningRateTest, PiecesEndWithTheirBoundaries) {
  const OptimizerSpec spec = With({.kind = ScheduleKind::kPiecewise,
                                   .boundaries = {2, 5},
                                   .values = {3.0f, 2.0f, 1.0f}});
  const float kExpected[] = {3, 3, 3, 2, 2, 2, 1, 1};
  for (uint64_t update = 0; update < 8; ++update) {
    EXPECT_EQ(LearningRate(spec, update), kExpected[update]) << update;
  }
}

TEST(LearningRateTest, HasTheCheckedInBits) {
  ScheduleSpec cosine = kFormulas[2].schedule;
  cosine.warmup = 3;
  EXPECT_EQ(LearningRate(With(cosine), 1), 0x1.111112p-4f);
  EXPECT_EQ(LearningRate(With(cosine), 17), 0x1.34f5a4p-4f);
  EXPECT_EQ(LearningRate(With(kFormulas[0].schedule), 17), 0x1.3054e6p-6f);
}

}  // namespace
}  // namespace gauntlet
