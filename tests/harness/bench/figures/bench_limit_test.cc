#include "harness/bench/figures/bench_limit.h"

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

BenchLimit Limit(std::string_view text) {
  Result<BenchLimit> limit = ParseBenchLimit(text);
  EXPECT_TRUE(limit.ok()) << limit.status().message();
  return limit.ok() ? *std::move(limit) : BenchLimit();
}

std::string ErrorOf(std::string_view text) {
  const Result<BenchLimit> limit = ParseBenchLimit(text);
  EXPECT_FALSE(limit.ok()) << text;
  return limit.status().message();
}

CheckpointFigures Async(TrialValues overhead) {
  CheckpointFigures figures = {.config = {.mode = SaveMode::kAsync,
                                          .state_bytes = 1'000'000,
                                          .every = 5,
                                          .workers = 1}};
  figures.of(Metric::kOverhead) = std::move(overhead);
  return figures;
}

CheckpointResult ResultOf(CheckpointFigures figures) {
  CheckpointResult result;
  CheckpointFigures none = {.config = figures.config};
  none.config.mode.reset();
  none.of(Metric::kStep) = {1, 1, 1};
  result.figures = {none, std::move(figures)};
  return result;
}

TEST(BenchLimit, ReadsModeMetricAndValue) {
  const BenchLimit limit = Limit("async.overhead<=3%");
  EXPECT_EQ(limit.mode, "async");
  EXPECT_EQ(limit.metric, Metric::kOverhead);
  EXPECT_TRUE(limit.at_most);
  EXPECT_DOUBLE_EQ(limit.value, 0.03);
  EXPECT_FALSE(limit.times_baseline);
  const BenchLimit other = Limit("bandwidth>=0.9x");
  EXPECT_EQ(other.mode, std::nullopt);
  EXPECT_FALSE(other.at_most);
  EXPECT_TRUE(other.times_baseline);
  EXPECT_DOUBLE_EQ(other.value, 0.9);
}

TEST(BenchLimit, RefusesUnknownNames) {
  EXPECT_EQ(ErrorOf("async.overhead"),
            "expected [MODE.]METRIC<=VALUE or >=, found 'async.overhead'");
  EXPECT_NE(ErrorOf("speed<=3").find("expected a metric (step, stall, "),
            std::string::npos);
  EXPECT_EQ(ErrorOf("stall<=3%"),
            "stall: expected a time such as 1.5ms, or a multiple of the "
            "baseline such as 1.1x, found '3%'");
}

TEST(BenchLimit, MedianAboveLimitBreaksIt) {
  const std::vector<BenchLimit> limits = {Limit("async.overhead<=3%")};
  EXPECT_TRUE(BrokenLimits(ResultOf(Async({0.01, 0.02, 0.9})), limits, nullptr)
                  .empty());
  const std::vector<std::string> broken =
      BrokenLimits(ResultOf(Async({0.01, 0.05, 0.9})), limits, nullptr);
  ASSERT_EQ(broken.size(), 1u);
  EXPECT_EQ(broken[0],
            "async.overhead<=3%: 5.00 % in "
            "checkpoint/async/state:1MB/every:5/workers:1");
}

TEST(BenchLimit, VoidOrMissingFigureBreaksIt) {
  const std::vector<BenchLimit> limits = {Limit("overhead<=3%")};
  CheckpointFigures voided = Async({});
  EXPECT_EQ(BrokenLimits(ResultOf(voided), limits, nullptr).at(0),
            "overhead<=3%: checkpoint/async/state:1MB/every:5/workers:1 was "
            "not measured");
  voided.voided = "another state";
  EXPECT_EQ(BrokenLimits(ResultOf(voided), limits, nullptr).at(0),
            "overhead<=3%: checkpoint/async/state:1MB/every:5/workers:1 is "
            "void");
}

TEST(BenchLimit, MultipleOfBaselineHasToBeSignificant) {
  const std::vector<BenchLimit> limits = {Limit("overhead<=1.1x")};
  BenchFigures baseline;
  baseline.values[NameOf(Async({}).config)][static_cast<size_t>(
      Metric::kOverhead)] = {0.010, 0.011, 0.012, 0.013, 0.014, 0.015};
  const TrialValues slower = {0.020, 0.021, 0.022, 0.023, 0.024, 0.025};
  const TrialValues scattered = {0.0101, 0.0111, 0.030, 0.0121, 0.031, 0.009};
  EXPECT_EQ(BrokenLimits(ResultOf(Async(slower)), limits, &baseline).size(),
            1u);
  EXPECT_TRUE(
      BrokenLimits(ResultOf(Async(scattered)), limits, &baseline).empty());
  EXPECT_TRUE(
      BrokenLimits(
          ResultOf(Async(baseline.values.begin()
                             ->second[static_cast<size_t>(Metric::kOverhead)])),
          limits, &baseline)
          .empty());
}

TEST(BenchLimit, BaselineNeedsTrialsOfEachComparedConfig) {
  const std::vector<CheckpointConfig> measured = {Async({}).config};
  const std::string name = NameOf(measured.front());
  BenchFigures baseline;
  TrialValues& values =
      baseline.values[name][static_cast<size_t>(Metric::kOverhead)];
  values = {1, 2, 3, 4, 5};
  EXPECT_TRUE(CheckBaseline(baseline, {Limit("overhead<=3%")}, measured).ok());
  const std::vector<BenchLimit> multiple = {Limit("overhead<=1.1x")};
  EXPECT_EQ(CheckBaseline(baseline, multiple, measured).message(),
            "--limit overhead<=1.1x: expected at least 6 trials of " + name +
                " in the baseline, found 5; measure the baseline with the same "
                "--modes, --state, --every, --workers and --shards");
  values.push_back(6);
  EXPECT_TRUE(CheckBaseline(baseline, multiple, measured).ok());
  baseline.values.clear();
  EXPECT_FALSE(CheckBaseline(baseline, multiple, measured).ok());
}

TEST(BenchLimit, BaselineNeedsAConfigurationThatIsMeasured) {
  CheckpointConfig none = Async({}).config;
  none.mode.reset();
  const std::vector<CheckpointConfig> measured = {none, Async({}).config};
  BenchFigures baseline;
  baseline.values[NameOf(none)];
  EXPECT_EQ(CheckBaseline(baseline, {}, measured).message(),
            "--baseline: expected a configuration that is measured now, such "
            "as " +
                NameOf(measured.back()) +
                ", found none; measure the baseline with the same --modes, "
                "--state, --every, --workers and --shards");
  EXPECT_TRUE(CheckBaseline(baseline, {}, {none}).ok());
  baseline.values[NameOf(measured.back())];
  EXPECT_TRUE(CheckBaseline(baseline, {}, measured).ok());
}

}  // namespace
}  // namespace gauntlet
