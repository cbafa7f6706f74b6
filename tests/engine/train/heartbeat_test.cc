// Workers that are alive send heartbeats in time.
#include <algorithm>

#include <gtest/gtest.h>

#include "tests/engine/train/training_fixture.h"

namespace gauntlet {
namespace {

// Fifty heartbeats are due in ten seconds. Each must be sent on time, however
// long the previous one took.
TEST(HeartbeatTest, SlowBeatDoesNotPutOffTheNext) {
  const std::vector<Fault> faults = {
      {.id = "slow",
       .site = {.worker = 1, .point = Point::kHeartbeat},
       .kind = FaultKind::kSlow,
       .with = {.times = FaultTimes::kAlways,
                .latency = std::chrono::milliseconds(150)}},
      {.id = "long step",
       .site = {.worker = 0, .step = 2, .point = Point::kDataNext},
       .kind = FaultKind::kSlow,
       .with = {.latency = std::chrono::seconds(10)}},
      {.id = "beat 45",
       .site = {.worker = 1, .point = Point::kHeartbeat, .occurrence = 45},
       .kind = FaultKind::kErrno}};
  TrainOptions options = SmallRun();
  options.cluster.step_timeout = std::chrono::seconds(20);
  const AttemptResult outcome =
      TrainingFixture().Run(2, options, {.faults = faults});
  const auto fired = outcome.Of(EventKind::kFaultFired, 1);
  EXPECT_TRUE(std::ranges::any_of(
      fired, [](const auto& event) { return event.detail == "beat 45"; }));
}

}  // namespace
}  // namespace gauntlet
