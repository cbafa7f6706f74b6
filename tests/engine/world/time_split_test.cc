#include "engine/world/time_split.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gauntlet {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::IsEmpty;

class HandClock final : public Clock {
 public:
  Time Now() const override { return now_; }
  int64_t UnixSeconds() const override { return 0; }
  void SleepUntil(Time deadline) override { now_ = deadline; }

 private:
  Time now_{};
};

Duration TotalOf(const std::vector<PartTime>& parts) {
  Duration total{0};
  for (const PartTime& part : parts) total += part.took;
  return total;
}

class TimeSplitTest : public testing::Test {
 protected:
  void Spend(Duration time) { clock_.SleepUntil(clock_.Now() + time); }

  HandClock clock_;
  TimeSplit split_{clock_};
};

TEST_F(TimeSplitTest, AddsLapsOfPartAndLeavesNoGap) {
  Spend(milliseconds(3));
  split_.Lap(TimePart::kWrite);
  Spend(milliseconds(2));
  split_.Lap(TimePart::kDigest);
  Spend(milliseconds(4));
  split_.Lap(TimePart::kWrite);
  const std::vector<PartTime> parts = split_.Take();
  EXPECT_THAT(parts, ElementsAre(PartTime{TimePart::kDigest, milliseconds(2)},
                                 PartTime{TimePart::kWrite, milliseconds(7)}));
  EXPECT_EQ(TotalOf(parts), clock_.Now() - Time());
}

TEST_F(TimeSplitTest, BeginsAtGivenTime) {
  const Time begin = clock_.Now();
  Spend(milliseconds(3));
  TimeSplit split(clock_, begin);
  Spend(milliseconds(2));
  split.Lap(TimePart::kBuild);
  EXPECT_THAT(split.Take(),
              ElementsAre(PartTime{TimePart::kBuild, milliseconds(5)}));
}

TEST_F(TimeSplitTest, CountsFromLastLapAfterTake) {
  Spend(milliseconds(1));
  split_.Lap(TimePart::kCompute);
  EXPECT_EQ(TotalOf(split_.Take()), milliseconds(1));
  EXPECT_THAT(split_.Take(), IsEmpty());
  Spend(milliseconds(5));
  split_.Lap(TimePart::kUpdate);
  EXPECT_THAT(split_.Take(),
              ElementsAre(PartTime{TimePart::kUpdate, milliseconds(5)}));
}

TEST_F(TimeSplitTest, SkippedTimeGoesToNoPart) {
  Spend(milliseconds(1));
  split_.Lap(TimePart::kCopy);
  Spend(milliseconds(9));
  split_.Skip();
  Spend(milliseconds(2));
  split_.Lap(TimePart::kWait);
  EXPECT_THAT(split_.Take(),
              ElementsAre(PartTime{TimePart::kCopy, milliseconds(1)},
                          PartTime{TimePart::kWait, milliseconds(2)}));
}

TEST_F(TimeSplitTest, RestartForgetsLaps) {
  Spend(milliseconds(1));
  split_.Lap(TimePart::kCopy);
  Spend(milliseconds(1));
  split_.Restart();
  EXPECT_THAT(split_.Take(), IsEmpty());
}

TEST(TimePartTest, AddsPartByPart) {
  std::vector<PartTime> totals;
  AddTo(totals, {{TimePart::kSave, milliseconds(2)}});
  AddTo(totals, {{TimePart::kCompute, milliseconds(1)},
                 {TimePart::kSave, milliseconds(3)}});
  EXPECT_THAT(totals, ElementsAre(PartTime{TimePart::kCompute, milliseconds(1)},
                                  PartTime{TimePart::kSave, milliseconds(5)}));
}

TEST(TimePartTest, NamesAreFoundAgain) {
  for (size_t i = 0; i < kTimeParts; ++i) {
    const auto part = static_cast<TimePart>(i);
    EXPECT_EQ(FindTimePart(TimePartName(part)), part);
  }
  EXPECT_EQ(FindTimePart("lunch"), std::nullopt);
}

TEST(TimePartTest, NamesDiffer) {
  std::set<std::string_view> names;
  for (size_t i = 0; i < kTimeParts; ++i) {
    names.insert(TimePartName(static_cast<TimePart>(i)));
  }
  EXPECT_EQ(names.size(), kTimeParts);
}

}  // namespace
}  // namespace gauntlet
