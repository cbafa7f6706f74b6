#include "chaos/inject/frame_fault.h"

#include <gtest/gtest.h>

#include "chaos/inject/faulty_clock.h"

namespace gauntlet {
namespace {

using std::chrono::milliseconds;

Fault Delay(Duration latency, Duration jitter) {
  return {.id = "late",
          .kind = FaultKind::kDelay,
          .with = {.latency = latency, .jitter = jitter}};
}

TEST(FrameFaultTest, DelayWithoutJitterIsTheSameForEachFrame) {
  FrameFault frame_fault(Delay(milliseconds(7), milliseconds(0)),
                         RandomStream(1, "a"));
  for (int i = 0; i < 10; ++i) EXPECT_EQ(frame_fault.Draw(), milliseconds(7));
}

TEST(FrameFaultTest, JitterIsAddedAndReachesBothOfItsEnds) {
  FrameFault frame_fault(Delay(milliseconds(5), milliseconds(10)),
                         RandomStream(1, "a"));
  Duration least = milliseconds(100);
  Duration most{0};
  for (int i = 0; i < 1000; ++i) {
    const Duration drawn = frame_fault.Draw();
    least = std::min(least, drawn);
    most = std::max(most, drawn);
  }
  EXPECT_GE(least, milliseconds(5));
  EXPECT_LT(least, milliseconds(6));
  EXPECT_LE(most, milliseconds(15));
  EXPECT_GT(most, milliseconds(14));
}

TEST(FrameFaultTest, LostFrameWaits200MsThenTwiceAsLongEachTime) {
  FrameFault frame_fault(
      {.id = "lossy", .kind = FaultKind::kPacketLoss, .with = {.percent = 50}},
      RandomStream(1, "a"));
  int passed = 0;
  int once = 0;
  int twice = 0;
  for (int i = 0; i < 1000; ++i) {
    const Duration drawn = frame_fault.Draw();
    if (drawn == Duration::zero()) ++passed;
    if (drawn == milliseconds(200)) ++once;
    if (drawn == milliseconds(600)) ++twice;
    EXPECT_EQ((drawn / milliseconds(200) + 1) & (drawn / milliseconds(200)), 0)
        << "a sum of doubling pauses";
  }
  EXPECT_NEAR(passed, 500, 80);
  EXPECT_NEAR(once, 250, 60);
  EXPECT_NEAR(twice, 125, 50);
}

TEST(FrameFaultTest, DuplicateDoublesFramesAndDelaysNone) {
  FrameFault frame_fault({.id = "twice", .kind = FaultKind::kDuplicate},
                         RandomStream(1, "a"));
  EXPECT_TRUE(frame_fault.doubles());
  EXPECT_EQ(frame_fault.Draw(), milliseconds(0));
  EXPECT_FALSE(
      FrameFault(Delay(milliseconds(7), milliseconds(0)), RandomStream(1, "a"))
          .doubles());
}

TEST(FrameFaultTest, StreamIsOfTheFaultThePlaceAndTheDirection) {
  const Fault fault = Delay(milliseconds(1), milliseconds(1));
  const std::string name = FrameFaultStream(fault, LinkDirection::kOut, "w1");
  EXPECT_NE(name, FrameFaultStream(fault, LinkDirection::kIn, "w1"));
  EXPECT_NE(name, FrameFaultStream(fault, LinkDirection::kOut, "w2"));
  Fault other = fault;
  other.id = "other";
  EXPECT_NE(name, FrameFaultStream(other, LinkDirection::kOut, "w1"));
}

class StoppedClock final : public Clock {
 public:
  Time Now() const override { return Time(std::chrono::seconds(5)); }
  int64_t UnixSeconds() const override { return 1'000'000; }
  void SleepUntil(Time) override {}
};

TEST(FaultyClockTest, WallClockJumps_MonotonicClockContinues) {
  StoppedClock base;
  FaultyClock clock(base);
  EXPECT_EQ(clock.UnixSeconds(), 1'000'000);
  clock.Jump(std::chrono::hours(1));
  EXPECT_EQ(clock.UnixSeconds(), 1'003'600);
  clock.Jump(-std::chrono::hours(2));
  EXPECT_EQ(clock.UnixSeconds(), 996'400);
  EXPECT_EQ(clock.Now(), base.Now());
}

}  // namespace
}  // namespace gauntlet
