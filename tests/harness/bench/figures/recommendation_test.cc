#include "harness/bench/figures/recommendation.h"

#include <gtest/gtest.h>

#include "harness/bench/figures/failure_model.h"

namespace gauntlet {
namespace {

CheckpointFigures Figures(std::optional<SaveMode> mode) {
  CheckpointFigures figures = {
      .config = {.mode = mode, .state_bytes = 1'000'000, .every = 5}};
  figures.of(Metric::kStep) = {0.001};
  if (!mode) return figures;
  figures.of(Metric::kStall) = {0.002};
  figures.of(Metric::kCost) = {0.004};
  figures.of(Metric::kDurable) = {0.003};
  figures.of(Metric::kRecompute) = {0.1};
  figures.of(Metric::kRecovery) = {0.5};
  return figures;
}

TEST(Recommendation, IsTheModelsBestInterval_ToTwoDigits) {
  const std::vector<CheckpointFigures> group = {Figures({}),
                                                Figures(SaveMode::kSync)};
  const auto all = RecommendationsOf(group, 3600);
  ASSERT_EQ(all.size(), 1u);
  const FailureModel model = {.between_failures = 3600,
                              .save_cost = 0.004,
                              .durable_after = 0.001,
                              .downtime = 0.4};
  const double best = BestInterval(model, 0.003);
  EXPECT_GE(all[0].seconds, best);
  EXPECT_LE(all[0].seconds, best * 1.1);
  EXPECT_EQ(all[0].steps % 100, 0u) << all[0].steps;  // a few thousand
  EXPECT_DOUBLE_EQ(all[0].goodput, ExpectedGoodput(model, all[0].seconds));
}

TEST(Recommendation, SaveCostsAtLeastItsStall) {
  std::vector<CheckpointFigures> noisy = {Figures({}),
                                          Figures(SaveMode::kAsync)};
  noisy[1].of(Metric::kCost) = {-0.007};
  std::vector<CheckpointFigures> at_stall = noisy;
  at_stall[1].of(Metric::kCost) = {0.002};
  const auto all = RecommendationsOf(noisy, 3600);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].steps, RecommendationsOf(at_stall, 3600)[0].steps);
  EXPECT_LT(all[0].goodput, 0.999);
}

TEST(Recommendation, NeedsRunsWithoutSavesAndARecovery) {
  EXPECT_TRUE(
      RecommendationsOf(std::vector{Figures(SaveMode::kSync)}, 1).empty());
  std::vector<CheckpointFigures> group = {Figures({}),
                                          Figures(SaveMode::kSync)};
  group[1].of(Metric::kRecovery).clear();
  EXPECT_TRUE(RecommendationsOf(group, 3600).empty());
}

TEST(Recommendation, GroupsDifferInTheModeAlone) {
  std::vector<CheckpointFigures> all = {Figures({}), Figures(SaveMode::kSync),
                                        Figures({}), Figures(SaveMode::kAsync)};
  all[2].config.every = all[3].config.every = 7;
  EXPECT_EQ(GroupAt(all, 0).size(), 2u);
  EXPECT_EQ(GroupAt(all, 2).size(), 2u);
  all[3].config.shards = 1;
  EXPECT_EQ(GroupAt(all, 2).size(), 1u);
}

}  // namespace
}  // namespace gauntlet
