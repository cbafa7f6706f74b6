#include "harness/scenario/requirements.h"

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

TEST(RequirementsTest, NamesTheMissingRequirement) {
  Case one;
  const Capabilities here{.disk_bytes = 1000, .features = {"processes"}};
  EXPECT_EQ(WhyNotHere(one, here), "");
  one.needs.features = {"processes", "simulation"};
  EXPECT_EQ(WhyNotHere(one, here),
            "needs simulation, which this world does not have");
  one.needs.disk_bytes = 2000;
  EXPECT_EQ(WhyNotHere(one, here), "needs 2000 bytes of disk, found 1000");
  one.needs.gpus = 1;
  EXPECT_EQ(WhyNotHere(one, here), "needs a GPU, found 0");
}

TEST(RequirementsTest, FaultThatRealProcessesCannotDoIsSkippedThereOnly) {
  Case one;
  one.plan.faults = {{.id = "cut", .kind = FaultKind::kPowerLoss}};
  EXPECT_EQ(WhyNotHere(one, {.world = WorldKind::kSimulated}), "");
  EXPECT_TRUE(WhyNotHere(one, {.world = WorldKind::kReal})
                  .starts_with("cut: real processes"));
}

TEST(RequirementsTest, Gpu_NeedsTheRealWorldAndADevice) {
  Case one;
  one.train.kernels.device = DeviceKind::kCuda;
  EXPECT_EQ(WhyNotHere(one, {.world = WorldKind::kReal, .gpus = 1}), "");
  EXPECT_EQ(WhyNotHere(one, {.world = WorldKind::kReal}),
            "needs a GPU, found none");
  EXPECT_TRUE(WhyNotHere(one, {.world = WorldKind::kSimulated, .gpus = 1})
                  .starts_with("needs a GPU, and the simulated world"));
  one.train.kernels.device = DeviceKind::kEmulated;
  EXPECT_EQ(WhyNotHere(one, {.world = WorldKind::kSimulated}), "");
}

TEST(RequirementsTest, CollectiveOfDevicesIsSkipped_IfTheyAreTooFew) {
  Case one;
  one.cluster.workers = 2;
  one.train.cluster.collective = CollectiveChoice::kNccl;
  EXPECT_EQ(
      WhyNotHere(one, {.world = WorldKind::kSimulated}),
      "collective nccl needs devices, and an attempt computes on the CPU");
  one.train.kernels.device = DeviceKind::kCuda;
  EXPECT_EQ(WhyNotHere(one, {.world = WorldKind::kReal, .gpus = 1}),
            "collective nccl needs a GPU for each of 2 workers, found 1");
  EXPECT_EQ(WhyNotHere(one, {.world = WorldKind::kReal, .gpus = 2}), "");
}

TEST(RequirementsTest, BugImpossibleOnADevice_IsSkippedThere) {
  Case one;
  one.plan.bugs = {PlantedBug::kWriteLiveState};
  const Capabilities here = {.world = WorldKind::kSimulated};
  EXPECT_EQ(WhyNotHere(one, here), "");
  one.train.kernels.device = DeviceKind::kEmulated;
  EXPECT_TRUE(WhyNotHere(one, here).starts_with("write-live-state: "));
}

TEST(RequirementsTest, SkipsDeviceFaultsWithoutADevice) {
  Case one;
  one.plan.faults = {{.id = "lost", .kind = FaultKind::kGpuError}};
  const Capabilities here = {.world = WorldKind::kSimulated};
  EXPECT_EQ(WhyNotHere(one, here),
            "lost: happens to a device, and there is none on cpu");
  one.plan.faults = {{.id = "crash", .site = {.point = Point::kDeviceOpen}}};
  EXPECT_TRUE(WhyNotHere(one, here).starts_with("crash: happens to a device"));
  one.train.kernels.device = DeviceKind::kEmulated;
  EXPECT_EQ(WhyNotHere(one, here), "");
}

TEST(RequirementsTest, DiskOfAnotherProfileIsSkippedInTheRealWorld) {
  for (const auto profile :
       {DurabilityProfile::kWeak, DurabilityProfile::kLyingFsync,
        DurabilityProfile::kShared}) {
    Case one;
    one.disk = profile;
    EXPECT_EQ(WhyNotHere(one, {.world = WorldKind::kSimulated}), "");
    EXPECT_NE(
        WhyNotHere(one, {.world = WorldKind::kReal}).find(ProfileName(profile)),
        std::string::npos);
  }
}

TEST(RequirementsTest, PowerLossOnALyingDiskIsJudgedLikeAnother) {
  Case one;
  one.disk = DurabilityProfile::kLyingFsync;
  one.plan.faults = {{.id = "cut", .kind = FaultKind::kPowerLoss}};
  EXPECT_EQ(WhyNotHere(one, {.world = WorldKind::kSimulated}), "");
}

}  // namespace
}  // namespace gauntlet
