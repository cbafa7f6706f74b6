// Simulated clusters of growing size.
#include "harness/bench/scale_bench.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gauntlet {
namespace {

using testing::HasSubstr;

class Silent final : public BenchObserver {
 public:
  void OnTrialBegun(uint64_t, uint64_t, const std::string&) override { ++runs; }
  bool Interrupted() override { return runs > most_runs; }

  uint64_t runs = 0;
  uint64_t most_runs = UINT64_MAX;
};

ScaleBenchPlan SmallPlan() {
  ScaleBenchPlan plan = {.setup = {}, .workers = {2, 8}, .crashes = 40};
  plan.setup.link.one_way = {std::chrono::microseconds(10),
                             std::chrono::microseconds(20)};
  return plan;
}

TEST(ScaleBenchTest, GoodputUnderCrashes_AgreesWithTheFormula) {
  Silent observer;
  const Result<ScaleResult> result = RunScaleBench(SmallPlan(), observer);
  ASSERT_TRUE(result.ok()) << result.status().message();
  ASSERT_EQ(result->figures.size(), 2u);
  EXPECT_FALSE(result->figures[0].goodput.has_value());
  const std::optional<MeasuredGoodput>& goodput = result->figures[1].goodput;
  ASSERT_TRUE(goodput.has_value());
  EXPECT_GT(goodput->kills, 20u);
  EXPECT_GT(goodput->expected, 0.6);
  EXPECT_LT(goodput->expected, 0.9);
  EXPECT_NEAR(goodput->measured, goodput->expected, 0.05);
}

TEST(ScaleBenchTest, Times_FollowTheSetup) {
  ScaleBenchPlan plan = SmallPlan();
  plan.crashes = 0;
  Silent observer;
  const Result<ScaleResult> near = RunScaleBench(plan, observer);
  plan.setup.link.one_way = {std::chrono::milliseconds(10),
                             std::chrono::milliseconds(10)};
  const Result<ScaleResult> far = RunScaleBench(plan, observer);
  ASSERT_TRUE(near.ok() && far.ok());
  const ScaleFigures& eight = far->figures[1];
  // The sum passes all 8 workers before it reaches the chief.
  EXPECT_NEAR(eight.of(ScaleMetric::kStep), 0.1 + 8 * 0.010, 0.001);
  EXPECT_LT(eight.of(ScaleMetric::kTreeStep), eight.of(ScaleMetric::kStep));
  EXPECT_NEAR(near->figures[1].of(ScaleMetric::kStep), 0.1, 0.001);
  const double parts =
      eight.of(ScaleMetric::kDetect) + eight.of(ScaleMetric::kRespawn) +
      eight.of(ScaleMetric::kJoin) + eight.of(ScaleMetric::kRestore) +
      eight.of(ScaleMetric::kRecompute);
  EXPECT_NEAR(parts, eight.of(ScaleMetric::kRestart), 1e-9);
  EXPECT_LT(eight.of(ScaleMetric::kRejoin), eight.of(ScaleMetric::kRestart));
  EXPECT_GT(eight.of(ScaleMetric::kStepMessages), 1.0);
}

TEST(ScaleBenchTest, KeepsTheClustersThatWereOverWhenInterrupted) {
  Silent observer;
  observer.most_runs = 4;  // three of a cluster, and the first of the next one
  const Result<ScaleResult> result = RunScaleBench(SmallPlan(), observer);
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(result->interrupted);
  EXPECT_EQ(result->figures.size(), 1u);
}

TEST(ScaleBenchTest, IsCancelled_WhenInterruptedBeforeTheFirstCluster) {
  Silent observer;
  observer.most_runs = 1;
  EXPECT_EQ(RunScaleBench(SmallPlan(), observer).status().code(),
            Code::kCancelled);
}

TEST(ScaleBenchTest, GrowthIsTheExponentBetweenTwoSizes) {
  ScaleFigures small = {.workers = 4};
  ScaleFigures large = {.workers = 16};
  small.of(ScaleMetric::kForm) = 1;
  large.of(ScaleMetric::kForm) = 16;
  EXPECT_NEAR(GrowthBetween(small, large, ScaleMetric::kForm), 2.0, 1e-12);
}

TEST(ScaleBenchTest, SmallerJobIsInterruptedLessOften) {
  const ScaleSetup setup = {.between_failures = std::chrono::hours(3),
                            .of_workers = 16'384};
  EXPECT_DOUBLE_EQ(setup.BetweenFailuresOf(8'192), 6 * 3600.0);
}

TEST(ScaleBenchTest, Json_HasTheFiguresOrTheErrorOfEachCluster) {
  ScaleResult result;
  result.figures = {{.workers = 4}, {.workers = 16}};
  result.figures[1].voided = "other state";
  const std::string json = ScaleResultToJson(result);
  EXPECT_THAT(json, HasSubstr("\"name\": \"scale/workers:4\""));
  EXPECT_THAT(json, HasSubstr("\"error_message\": \"other state\""));
}

}  // namespace
}  // namespace gauntlet
