#include "harness/bench/figures/metric_text.h"

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

TEST(MetricText, HasThreeDigits) {
  EXPECT_EQ(MetricText(MetricUnit::kSeconds, 0.0012345), "1.23 ms");
  EXPECT_EQ(MetricText(MetricUnit::kSeconds, 12.34), "12.3 s");
  EXPECT_EQ(MetricText(MetricUnit::kSeconds, 0.000345), "345 us");
  EXPECT_EQ(MetricText(MetricUnit::kSeconds, -0.0021), "-2.10 ms");
  EXPECT_EQ(MetricText(MetricUnit::kSeconds, 0), "0.00 us");
  EXPECT_EQ(MetricText(MetricUnit::kBytes, 12e6), "12.0 MB");
  EXPECT_EQ(MetricText(MetricUnit::kBytesPerSecond, 1.44e9), "1.44 GB/s");
  EXPECT_EQ(MetricText(MetricUnit::kRatio, 0.0312), "3.12 %");
}

TEST(MetricText, NeverWritesThousandOfUnit) {
  EXPECT_EQ(MetricText(MetricUnit::kSeconds, 0.0009996), "1.00 ms");
  EXPECT_EQ(MetricText(MetricUnit::kBytes, 999'700), "1.00 MB");
}

TEST(MetricText, RangeHasOneUnit) {
  EXPECT_EQ(MetricRangeText(MetricUnit::kSeconds, 0.0009, 0.0012),
            "0.90-1.20 ms");
  EXPECT_EQ(MetricRangeText(MetricUnit::kSeconds, -0.001, 0.002),
            "-1.00 to 2.00 ms");
  EXPECT_EQ(MetricRangeText(MetricUnit::kRatio, 0.01, 0.025), "1.00-2.50 %");
}

TEST(MetricText, ReadsValuesOfLimits) {
  EXPECT_EQ(ParseMetricValue(MetricUnit::kRatio, "3%"), 0.03);
  EXPECT_EQ(ParseMetricValue(MetricUnit::kRatio, "0.5"), std::nullopt);
  EXPECT_EQ(ParseMetricValue(MetricUnit::kSeconds, "1.5ms"), 0.0015);
  EXPECT_EQ(ParseMetricValue(MetricUnit::kBytes, "10MB"), 1e7);
  EXPECT_EQ(ParseMetricValue(MetricUnit::kBytesPerSecond, "1.2GB/s"), 1.2e9);
}

TEST(MetricText, RefusesValuesOfOtherUnits) {
  EXPECT_EQ(ParseMetricValue(MetricUnit::kSeconds, "3%"), std::nullopt);
  EXPECT_EQ(ParseMetricValue(MetricUnit::kRatio, "3ms"), std::nullopt);
  EXPECT_EQ(ParseMetricValue(MetricUnit::kBytes, "10MB/s"), std::nullopt);
  EXPECT_EQ(ParseMetricValue(MetricUnit::kBytesPerSecond, "10MB"),
            std::nullopt);
}

}  // namespace
}  // namespace gauntlet
