#include "harness/explore/trial/base_check.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/explore/trial/explore_case.h"
#include "harness/run/case_runner.h"
#include "harness/run/files/text_file.h"
#include "tests/harness/run/small_cases.h"

namespace gauntlet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

BaseCheck CheckOf(const Case& base) {
  References references("", "test");
  return CheckBase(base, references).value();
}

TEST(BaseCheckTest, CompletedBase_Passes) {
  const BaseCheck check = CheckOf(CleanCase());
  EXPECT_EQ(check.failure, "");
  EXPECT_EQ(check.skipped, "");
}

// Workers that seem silent between heartbeats are restarted without need.
TEST(BaseCheckTest, BaseRestartingWithoutFaults_Fails) {
  Case base = CleanCase();
  base.train.cluster.heartbeat_every = std::chrono::microseconds(1);
  base.train.cluster.lost_after = std::chrono::microseconds(2);
  base.cluster.max_restarts = 0;
  EXPECT_THAT(CheckOf(base).failure,
              HasSubstr("as it is, without any fault: "));
}

TEST(BaseCheckTest, ReportsALimitThatTheBaseExceeds) {
  Case base = CleanCase();
  base.timeouts.total = std::chrono::milliseconds(1);
  EXPECT_THAT(CheckOf(base).failure,
              HasSubstr("no-hang: no launcher came to an end (timeout.total is "
                        "1ms): "));
}

// Interrupts the reference run first, and then the base's own run.
TEST(BaseCheckTest, InterruptEndsIt) {
  bool interrupted = true;
  References references("", "test", [&] { return interrupted; });
  EXPECT_EQ(CheckBase(CleanCase(), references).status().message(),
            "interrupted");
  interrupted = false;
  ASSERT_TRUE(references.GoldenFor(PlanOf(CleanCase())).ok());
  interrupted = true;
  EXPECT_EQ(CheckBase(CleanCase(), references).status().message(),
            "interrupted");
  interrupted = false;
  EXPECT_TRUE(CheckBase(CleanCase(), references).ok());
}

TEST(BaseCheckTest, ReportsNeedsOfTheRealWorld) {
  Case base = CleanCase();
  base.needs.gpus = 8;
  EXPECT_EQ(CheckOf(base).skipped, "needs 8 GPUs, found 0");
}

TEST(BaseCheckTest, TriesDeviceFaults_OnlyWithDevices) {
  Case base = CleanCase();
  const auto has = [](const auto& all, const auto& one) {
    return std::ranges::find(all, one) != all.end();
  };
  EXPECT_FALSE(has(SpaceOf(base).kinds, FaultKind::kGpuError));
  EXPECT_FALSE(has(SpaceOf(base).points, Point::kDeviceOpen));
  EXPECT_FALSE(CanHappenTo(FaultKind::kDeviceHang, base));
  base.train.kernels.device = DeviceKind::kEmulated;
  EXPECT_EQ(SpaceOf(base).kinds.size(), AllFaultKinds().size());
  EXPECT_TRUE(has(SpaceOf(base).points, Point::kDeviceOpen));
  EXPECT_EQ(CheckOf(base).failure, "");
}

TEST(BaseCheckTest, ReportsOverriddenSettingsOfTheBase) {
  Case base = CleanCase();
  base.cluster.policy = RestartPolicy::kNone;
  base.cluster.max_restarts = 30;
  base.train.cluster.lost_after = std::chrono::seconds(1);
  EXPECT_THAT(OverridesOf(base),
              ElementsAre("restart policy whole-job instead of none",
                          "step_timeout 3s instead of 30s",
                          "save_timeout 5s instead of 5m",
                          "start_timeout 30s instead of 10m",
                          "preemption poll_every 10ms instead of 1s",
                          "timeout total 10m instead of 2m"));
  EXPECT_THAT(OverridesOf(SetupsOf(base).front()), testing::IsEmpty());
}

TEST(BaseCheckTest, SetupsDifferAndAreNamed) {
  const Case base = LoadScenarios(ReadTextFile(std::filesystem::path(
                                      GAUNTLET_SCENARIOS "/explore/base.yaml")),
                                  "base.yaml")
                        .cases.at(0);
  std::set<std::string> names;
  for (const Case& setup : SetupsOf(base)) {
    EXPECT_TRUE(names.insert(DescribeSetup(setup, base)).second)
        << DescribeSetup(setup, base);
  }
  for (const char* name :
       {"as it is", "job with sgd", "job with adam", "job with convolutions",
        "saves at epoch ends", "grace 1100ms", "lost workers rejoin"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
}

TEST(BaseCheckTest, OneWorkerIsSingular) {
  const Case base = CleanCase();
  Case setup = base;
  SetWorkers(1, setup.cluster);
  EXPECT_EQ(DescribeSetup(setup, base), "1 worker");
  SetWorkers(base.cluster.workers + 1, setup.cluster);
  EXPECT_THAT(DescribeSetup(setup, base), testing::EndsWith(" workers"));
}

TEST(BaseCheckTest, RejoiningBase_KeepsItsRestartPolicy) {
  Case base = CleanCase();
  base.cluster.policy = RestartPolicy::kRejoin;
  base.train.cluster.on_loss = OnLoss::kRejoin;
  for (const Case& setup : SetupsOf(base)) {
    EXPECT_EQ(setup.cluster.policy, RestartPolicy::kRejoin);
    EXPECT_EQ(setup.train.cluster.on_loss, OnLoss::kRejoin);
  }
}

}  // namespace
}  // namespace gauntlet
