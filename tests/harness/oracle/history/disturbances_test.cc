#include "harness/oracle/history/disturbances.h"

#include <gtest/gtest.h>

#include "tests/harness/oracle/run_events.h"

namespace gauntlet {
namespace {

const Emitter kProcess = WorkerProcess(0, 1);

TEST(DisturbancesTest, DeathLastsNoTime) {
  Disturbances disturbances;
  disturbances.Fired({.kind = "crash"}, kProcess, 10);
  EXPECT_TRUE(disturbances.AnySince(10));
  EXPECT_FALSE(disturbances.AnySince(11));
}

TEST(DisturbancesTest, FaultLastsForItsDurationAndLatency) {
  Disturbances disturbances;
  disturbances.Fired({.kind = "delay", .latency_ns = 3, .duration_ns = 5},
                     kProcess, 10);
  EXPECT_TRUE(disturbances.AnySince(18));
  EXPECT_FALSE(disturbances.AnySince(19));
}

TEST(DisturbancesTest, PauseEndsWithItsProcess) {
  Disturbances disturbances;
  disturbances.Fired({.kind = "pause"}, kProcess, 10);
  disturbances.Ended(WorkerProcess(1, 1), 20);
  EXPECT_TRUE(disturbances.AnySince(21));
  disturbances.Ended(kProcess, 30);
  EXPECT_TRUE(disturbances.AnySince(30));
  EXPECT_FALSE(disturbances.AnySince(31));
}

TEST(DisturbancesTest, PartitionOutlivesItsProcess) {
  Disturbances disturbances;
  disturbances.Fired({.kind = "partition"}, kProcess, 10);
  disturbances.Ended(kProcess, 20);
  EXPECT_TRUE(disturbances.AnySince(1'000'000));
}

TEST(DisturbancesTest, ErrorAtEveryHitLastsUntilTheProcessEnds) {
  Disturbances disturbances;
  disturbances.Fired({.kind = "errno", .always = true}, kProcess, 10);
  EXPECT_TRUE(disturbances.AnySince(1'000'000));
  disturbances.Ended(kProcess, 20);
  EXPECT_FALSE(disturbances.AnySince(21));
}

}  // namespace
}  // namespace gauntlet
