#include "reports/html/picture/time_axis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gauntlet {
namespace {

constexpr int64_t kMs = 1'000'000;

// Returns an event time for each millisecond, with a pause of half a minute.
std::vector<int64_t> TimesWithPause() {
  std::vector<int64_t> times;
  for (int64_t ms = 0; ms <= 50; ++ms) times.push_back(ms * kMs);
  for (int64_t ms = 0; ms <= 50; ++ms) times.push_back((30'050 + ms) * kMs);
  return times;
}

TEST(TimeAxisTest, ShortensIdleTime) {
  const TimeAxis axis(TimesWithPause(), {.width = 1000});
  ASSERT_EQ(axis.gaps().size(), 1u);
  const IdleGap& gap = axis.gaps().front();
  EXPECT_EQ(gap.duration_ns, 30'000 * kMs);
  EXPECT_LT(gap.end - gap.begin, 100);
  EXPECT_GT(gap.end - gap.begin, 10);
  EXPECT_TRUE(axis.IsInGap((gap.begin + gap.end) / 2));
  EXPECT_FALSE(axis.IsInGap(gap.begin - 1));
}

TEST(TimeAxisTest, HasNoGap_IfEventsAreEvenlySpaced) {
  std::vector<int64_t> times;
  for (int64_t i = 0; i < 100; ++i) times.push_back(i * 1000 * kMs);
  const TimeAxis axis(times, {.width = 1000});
  EXPECT_TRUE(axis.gaps().empty());
  EXPECT_NEAR(axis.At(times[50]), 1000.0 * 50 / 99, 1);
}

TEST(TimeAxisTest, PlacesLaterTimesFurtherRight) {
  const TimeAxis axis(TimesWithPause(), {.width = 1000});
  double last = -1;
  for (const int64_t t_ns : TimesWithPause()) {
    EXPECT_GT(axis.At(t_ns), last);
    EXPECT_NEAR(static_cast<double>(axis.TimeAt(axis.At(t_ns))),
                static_cast<double>(t_ns), 1000.0);
    last = axis.At(t_ns);
  }
  EXPECT_DOUBLE_EQ(last, 1000);
  EXPECT_DOUBLE_EQ(axis.At(-1), 0);
  EXPECT_DOUBLE_EQ(axis.At(1'000'000 * kMs), 1000);
}

TEST(TimeAxisTest, StretchesMomentsBetweenMarks) {
  std::vector<int64_t> times = TimesWithPause();
  times.push_back(20 * kMs + 1000);
  const std::pair<int64_t, int64_t> marks = {20 * kMs, 20 * kMs + 1000};
  const auto apart = [&](const TimeAxis& axis) {
    return axis.At(marks.second) - axis.At(marks.first);
  };
  EXPECT_LT(apart(TimeAxis(times, {.width = 1000})), 1);
  EXPECT_GT(apart(TimeAxis(times, {.width = 1000, .apart = {marks}})), 20);
}

TEST(TimeAxisTest, TakesOneTimeAndNone) {
  EXPECT_DOUBLE_EQ(TimeAxis({}, {}).At(5), 0);
  EXPECT_DOUBLE_EQ(TimeAxis({7, 7}, {}).At(7), 0);
}

TEST(PlaceLabelsTest, LabelsOfARowDoNotOverlap) {
  std::vector<AxisLabel> labels;
  for (int i = 0; i < 40; ++i)
    labels.push_back({.x = i * 25.0, .text = "100 ms"});
  const std::vector<AxisLabel> placed = PlaceLabels(labels, 2, 1000);
  EXPECT_GT(placed.size(), 20u);
  std::vector<double> ends(2, 0.0);
  for (const AxisLabel& label : placed) {
    const double half = LabelWidth(label.text) / 2;
    double& end = ends.at(static_cast<size_t>(label.row));
    EXPECT_GE(label.x - half, end);
    end = label.x + half;
    EXPECT_LE(end, 1000);
  }
}

TEST(PlaceLabelsTest, LeavesOutLabelsWithoutRoom) {
  const std::vector<AxisLabel> labels(3, {.x = 50, .text = "100 ms"});
  EXPECT_EQ(PlaceLabels(labels, 1, 1000).size(), 1u);
  EXPECT_EQ(PlaceLabels(labels, 2, 1000).size(), 2u);
}

}  // namespace
}  // namespace gauntlet
