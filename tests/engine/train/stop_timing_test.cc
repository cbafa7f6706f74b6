#include "engine/train/stop_timing.h"

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Time At(Duration since) { return Time(since); }

TEST(StopTimingTest, GoesOnWithoutANotice) {
  EXPECT_EQ(StopTiming(seconds(0)).Ask(At(seconds(9))), StopAdvice::kGoOn);
}

TEST(StopTimingTest, StopsAtOnceWithoutAGracePeriod) {
  StopTiming timing(seconds(0));
  timing.Noticed(At(seconds(1)));
  EXPECT_EQ(timing.Ask(At(seconds(1))), StopAdvice::kStop);
}

TEST(StopTimingTest, SavesFirstWhereNoSaveWasMeasured) {
  StopTiming timing(seconds(60));
  timing.Noticed(At(seconds(1)));
  EXPECT_EQ(timing.Ask(At(seconds(1))), StopAdvice::kSaveAndGoOn);
  timing.SaveTook(seconds(2));
  EXPECT_EQ(timing.Ask(At(seconds(1))), StopAdvice::kGoOn);
}

// What is needed: two operations of 1 s, a save of 2 s and half as much again,
// a margin of 1 s.
TEST(StopTimingTest, StopsWhenTheTimeIsJustEnoughForTheLongestSave) {
  StopTiming timing(seconds(60));
  timing.OperationTook(seconds(1));
  timing.OperationTook(milliseconds(1));
  timing.SaveTook(seconds(2));
  timing.SaveTook(milliseconds(1));
  timing.Noticed(At(seconds(0)));
  EXPECT_EQ(timing.Ask(At(milliseconds(53'999))), StopAdvice::kGoOn);
  EXPECT_EQ(timing.Ask(At(seconds(54))), StopAdvice::kStop);
}

TEST(StopTimingTest, ARepeatedNoticeGivesNoNewTime) {
  StopTiming timing(seconds(10));
  timing.SaveTook(seconds(1));
  timing.Noticed(At(seconds(0)));
  timing.Noticed(At(seconds(9)));
  EXPECT_EQ(timing.Ask(At(seconds(9))), StopAdvice::kStop);
}

TEST(StopTimingTest, AGraceTooShortForASaveStopsAtOnce) {
  StopTiming timing(milliseconds(500));
  timing.Noticed(At(seconds(0)));
  EXPECT_EQ(timing.Ask(At(seconds(0))), StopAdvice::kStop);
}

}  // namespace
}  // namespace gauntlet
