#include "engine/train/notice/stop_timing.h"

#include <array>

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Time At(Duration since) { return Time(since); }

constexpr std::array kSteps = {Operation::kStep, Operation::kStep};
constexpr std::array kLastStep = {Operation::kStep, Operation::kEvaluation};

// Returns the timing in the middle of an epoch, with steps of negligible
// duration.
StopTiming Running(Duration grace) {
  StopTiming timing(grace);
  timing.RecordOperation(Operation::kStep, milliseconds(0));
  return timing;
}

TEST(StopTimingTest, ContinuesWithoutANotice) {
  EXPECT_EQ(StopTiming(seconds(0)).Advise(At(seconds(9)), kSteps),
            StopAdvice::kContinue);
}

TEST(StopTimingTest, StopsAtOnceWithoutAGracePeriod) {
  StopTiming timing = Running(seconds(0));
  timing.RecordNotice(At(seconds(1)));
  EXPECT_EQ(timing.Advise(At(seconds(1)), kSteps), StopAdvice::kStop);
}

TEST(StopTimingTest, SavesFirst_IfNoSaveWasMeasured) {
  StopTiming timing = Running(seconds(60));
  timing.RecordNotice(At(seconds(1)));
  EXPECT_EQ(timing.Advise(At(seconds(1)), kSteps),
            StopAdvice::kSaveAndContinue);
  timing.RecordSave(seconds(2));
  EXPECT_EQ(timing.Advise(At(seconds(1)), kSteps), StopAdvice::kContinue);
}

// Time needed: two operations of 1 s, a save of 2 s plus half as much again,
// and a margin of 1 s.
TEST(StopTimingTest, StopsWhenTheTimeIsJustEnoughForTheLongestSave) {
  StopTiming timing = Running(seconds(60));
  timing.RecordOperation(Operation::kStep, seconds(1));
  timing.RecordOperation(Operation::kStep, milliseconds(1));
  timing.RecordSave(seconds(2));
  timing.RecordSave(milliseconds(1));
  timing.RecordNotice(At(seconds(0)));
  EXPECT_EQ(timing.Advise(At(milliseconds(53'999)), kSteps),
            StopAdvice::kContinue);
  EXPECT_EQ(timing.Advise(At(seconds(54)), kSteps), StopAdvice::kStop);
}

// A task still runs after the first save. The second save reports the time of
// that task.
TEST(StopTimingTest, TimeSinceTheLastSaveCounts_UntilTheNextSave) {
  StopTiming timing = Running(seconds(60));
  timing.RecordSave(seconds(2));
  timing.RecordNotice(At(seconds(0)));
  timing.RecordSaveSoFar(seconds(20));
  EXPECT_EQ(timing.Advise(At(milliseconds(28'999)), kSteps),
            StopAdvice::kContinue);
  EXPECT_EQ(timing.Advise(At(seconds(29)), kSteps), StopAdvice::kStop);
  timing.RecordSave(seconds(4));
  EXPECT_EQ(timing.Advise(At(milliseconds(52'999)), kSteps),
            StopAdvice::kContinue);
  EXPECT_EQ(timing.Advise(At(seconds(53)), kSteps), StopAdvice::kStop);
}

// The two saves are the one in progress and the last one.
TEST(StopTimingTest, LeavesTimeForTwoSaves_IfOneMayBeInProgress) {
  StopTiming timing(seconds(60), 2);
  timing.RecordOperation(Operation::kStep, seconds(1));
  timing.RecordSave(seconds(2));
  timing.RecordNotice(At(seconds(0)));
  EXPECT_EQ(timing.Advise(At(milliseconds(50'999)), kSteps),
            StopAdvice::kContinue);
  EXPECT_EQ(timing.Advise(At(seconds(51)), kSteps), StopAdvice::kStop);
}

TEST(StopTimingTest, UnmeasuredOperation_IsNotBegun) {
  StopTiming timing = Running(seconds(60));
  timing.RecordSave(seconds(1));
  timing.RecordNotice(At(seconds(0)));
  EXPECT_EQ(timing.Advise(At(seconds(0)), kSteps), StopAdvice::kContinue);
  EXPECT_EQ(timing.Advise(At(seconds(0)), kLastStep), StopAdvice::kStop);
  timing.RecordOperation(Operation::kEvaluation, seconds(1));
  EXPECT_EQ(timing.Advise(At(seconds(0)), kLastStep), StopAdvice::kContinue);
}

TEST(StopTimingTest, EachKindOfOperationHasItsOwnTime) {
  StopTiming timing = Running(seconds(60));
  timing.RecordSave(seconds(0));
  timing.RecordOperation(Operation::kEvaluation, seconds(40));
  timing.RecordNotice(At(seconds(0)));
  EXPECT_EQ(timing.Advise(At(seconds(30)), kSteps), StopAdvice::kContinue);
  EXPECT_EQ(timing.Advise(At(seconds(30)), kLastStep), StopAdvice::kStop);
}

TEST(StopTimingTest, RepeatedNoticeGivesNoNewTime) {
  StopTiming timing = Running(seconds(10));
  timing.RecordSave(seconds(1));
  timing.RecordNotice(At(seconds(0)));
  timing.RecordNotice(At(seconds(9)));
  EXPECT_EQ(timing.Advise(At(seconds(9)), kSteps), StopAdvice::kStop);
}

TEST(StopTimingTest, GraceTooShortForASaveStopsAtOnce) {
  StopTiming timing = Running(milliseconds(500));
  timing.RecordNotice(At(seconds(0)));
  EXPECT_EQ(timing.Advise(At(seconds(0)), kSteps), StopAdvice::kStop);
}

}  // namespace
}  // namespace gauntlet
