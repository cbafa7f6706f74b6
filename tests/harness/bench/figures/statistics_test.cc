#include "harness/bench/figures/statistics.h"

#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

std::vector<double> UpTo(size_t count) {
  std::vector<double> values(count);
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

TEST(Statistics, MedianIsMiddleOrMeanOfTwo) {
  EXPECT_EQ(MedianOf({7}), 7);
  EXPECT_EQ(MedianOf({9, 1, 4}), 4);
  EXPECT_EQ(MedianOf({4, 1, 9, 2}), 3);
}

TEST(Statistics, MeanWeighsEachValue) {
  EXPECT_EQ(MeanOf(std::vector<double>{1, 2, 9}), 4);
}

// Ranks from published tables of 95 % confidence intervals for a median.
TEST(Statistics, IntervalHasRanksOfTables) {
  struct Row {
    size_t count;
    double low;
    double high;
  };
  for (const Row& row :
       {Row{6, 1, 6}, Row{8, 1, 8}, Row{9, 2, 8}, Row{11, 2, 10},
        Row{12, 3, 10}, Row{15, 4, 12}, Row{20, 6, 15}, Row{25, 8, 18}}) {
    const MedianInterval interval = MedianIntervalOf(UpTo(row.count));
    EXPECT_EQ(interval.low, row.low) << row.count << " values";
    EXPECT_EQ(interval.high, row.high) << row.count << " values";
  }
}

TEST(Statistics, IntervalOfFewValuesSpansAll) {
  EXPECT_EQ(MedianIntervalOf({5}), (MedianInterval{5, 5, 5}));
  EXPECT_EQ(MedianIntervalOf({5, 2, 3}), (MedianInterval{3, 2, 5}));
}

TEST(Statistics, ExactPValuesOfSeparateGroups) {
  // Every value of one group is below every value of the other: 2 / C(n, k).
  const std::vector<double> low = {1, 2, 3, 4, 5, 6};
  const std::vector<double> high = {11, 12, 13, 14, 15, 16};
  EXPECT_NEAR(MannWhitneyP(low, high), 2.0 / 924.0, 1e-12);
  EXPECT_NEAR(MannWhitneyP(high, low), 2.0 / 924.0, 1e-12);
  const std::vector<double> three = {1, 2, 3};
  const std::vector<double> four = {4, 5, 6, 7};
  EXPECT_NEAR(MannWhitneyP(three, four), 2.0 / 35.0, 1e-12);
}

TEST(Statistics, ExactPValueOfOneSwap) {
  // U = 1: two of the 20 orders are as extreme or more, on each side.
  const std::vector<double> one = {1, 2, 4};
  const std::vector<double> other = {3, 5, 6};
  EXPECT_NEAR(MannWhitneyP(one, other), 2.0 * 2.0 / 20.0, 1e-12);
}

TEST(Statistics, EqualGroupsDoNotDiffer) {
  const std::vector<double> same(6, 3.0);
  EXPECT_EQ(MannWhitneyP(same, same), 1.0);
  EXPECT_EQ(MannWhitneyP({}, same), 1.0);
}

TEST(Statistics, TiesUseNormalApproximation) {
  const std::vector<double> one = {1, 1, 2, 2, 3, 3, 3, 4};
  const std::vector<double> other = {3, 4, 4, 5, 5, 5, 6, 6};
  const double p = MannWhitneyP(one, other);
  // U = 3.5 of 64, variance 64/12 (17 - 126/240): z = 28 / 9.374.
  EXPECT_NEAR(p, 0.002817, 1e-5);
  EXPECT_DOUBLE_EQ(p, MannWhitneyP(other, one));
}

}  // namespace
}  // namespace gauntlet
