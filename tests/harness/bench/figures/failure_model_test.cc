#include "harness/bench/figures/failure_model.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

// Returns the goodput of a simulated run of `intervals` intervals, in which
// failures occur at random times.
double SimulatedGoodput(const FailureModel& model, double interval,
                        int intervals) {
  std::mt19937_64 random(7);
  std::exponential_distribution<double> gap(1.0 / model.between_failures);
  double wall = 0;
  double next = gap(random);
  for (int done = 0; done < intervals;) {
    const double end = wall + interval + model.save_cost;
    if (next >= end) {
      wall = end;
      ++done;
      continue;
    }
    // A failure during the restart begins another restart.
    double up = next + model.downtime;
    for (next += gap(random); next < up; next += gap(random)) {
      up = next + model.downtime;
    }
    wall = up;
  }
  return interval * intervals / wall;
}

TEST(FailureModel, Goodput_AgreesWithSimulatedRuns) {
  for (const FailureModel& model :
       {FailureModel{.between_failures = 100, .save_cost = 2, .downtime = 5},
        FailureModel{.between_failures = 10, .save_cost = 0.5, .downtime = 3},
        FailureModel{.between_failures = 50, .save_cost = 0, .downtime = 0}}) {
    for (const double interval : {2.0, 10.0, 40.0}) {
      EXPECT_NEAR(ExpectedGoodput(model, interval),
                  SimulatedGoodput(model, interval, 200'000), 0.01)
          << model.between_failures << " s between failures, " << interval;
    }
  }
}

TEST(FailureModel, LateDurabilityCostsAsMuchDowntime) {
  const FailureModel late = {.between_failures = 60,
                             .save_cost = 1,
                             .durable_after = 4,
                             .downtime = 2};
  const FailureModel slow = {
      .between_failures = 60, .save_cost = 1, .downtime = 6};
  EXPECT_DOUBLE_EQ(ExpectedGoodput(late, 10), ExpectedGoodput(slow, 10));
}

TEST(FailureModel, YoungIntervalIsRootOfTwiceProduct) {
  EXPECT_DOUBLE_EQ(YoungInterval({.between_failures = 200, .save_cost = 4}),
                   40);
}

TEST(FailureModel, BestIntervalIsNearYoungForCheapSaves) {
  const FailureModel model = {
      .between_failures = 86'400, .save_cost = 0.01, .downtime = 1};
  EXPECT_NEAR(BestInterval(model, 0.001), YoungInterval(model),
              YoungInterval(model) * 0.01);
}

TEST(FailureModel, BestIntervalBeatsItsNeighbours) {
  const FailureModel model = {
      .between_failures = 30, .save_cost = 3, .downtime = 5};
  const double best = BestInterval(model, 0.1);
  for (const double factor : {0.5, 0.8, 0.95, 1.05, 1.25, 2.0}) {
    EXPECT_GE(ExpectedGoodput(model, best),
              ExpectedGoodput(model, best * factor))
        << factor;
  }
}

TEST(FailureModel, BestIntervalKeepsLeast) {
  const FailureModel model = {.between_failures = 10, .save_cost = 0.001};
  EXPECT_NEAR(BestInterval(model, 5), 5, 1e-6);
}

}  // namespace
}  // namespace gauntlet
