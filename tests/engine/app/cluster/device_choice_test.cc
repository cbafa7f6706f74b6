#include "engine/app/cluster/device_choice.h"

#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/real/host/cuda_plugin.h"

namespace gauntlet {
namespace {

using ::testing::HasSubstr;

class DeviceChoiceTest : public ::testing::Test {
 protected:
  Status Resolve(KernelOptions& options) {
    const TerminalStyle plain(ColorChoice::kOff, TerminalFacts());
    Console console{out_, err_, plain, plain};
    return ResolveDevice(options, console);
  }
  bool HasCuda() const { return OpenCuda().ok(); }

  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(DeviceChoiceTest, AutoReportsItsChoice) {
  KernelOptions options = {.device = DeviceKind::kAuto};
  EXPECT_TRUE(Resolve(options).ok());
  EXPECT_EQ(options.device, HasCuda() ? DeviceKind::kCuda : DeviceKind::kCpu);
  EXPECT_THAT(err_.str(),
              HasSubstr(HasCuda() ? "device: cuda\n" : "device: cpu (no CUDA"));
}

TEST_F(DeviceChoiceTest, CudaWithoutADeviceIsBadInput) {
  if (HasCuda()) GTEST_SKIP() << "this machine has CUDA";
  KernelOptions options = {.device = DeviceKind::kCuda};
  const Status status = Resolve(options);
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("--device cuda: no CUDA"));
  EXPECT_EQ(err_.str(), "");
}

TEST_F(DeviceChoiceTest, RefusesFastProducts_OnUnsupportedDevice) {
  KernelOptions options = {.math = Math::kFast,
                           .device = DeviceKind::kEmulated};
  EXPECT_EQ(Resolve(options).message(),
            "--math library requires --device cuda or cpu, found "
            "emulated");
  options.device = DeviceKind::kCpu;
  EXPECT_TRUE(Resolve(options).ok());
  options.math = Math::kFastTf32;
  EXPECT_EQ(Resolve(options).message(),
            "--math library-tf32 requires --device cuda, found cpu");
}

TEST_F(DeviceChoiceTest, PlacesEachWorkerOnTheChosenDevice) {
  TrainOptions options;
  EXPECT_EQ(PlaceOnDevice(options, 0).api, nullptr);
  EXPECT_EQ(PlaceOnDevice(options, 0).no_device, "");
  options.kernels.device = DeviceKind::kEmulated;
  const gpu::DevicePlace place = PlaceOnDevice(options, 3);
  ASSERT_NE(place.api, nullptr);
  EXPECT_EQ(std::string(place.api->name), "emulated");
  EXPECT_EQ(place.index, 0);
  EXPECT_EQ(std::string(place.collective->name), "emulated");
}

// The worker reports the missing device itself, as it may be restarted on a
// host that has one.
TEST_F(DeviceChoiceTest, ReportsADeviceThatIsGoneSinceItWasChosen) {
  if (HasCuda()) GTEST_SKIP() << "this machine has CUDA";
  TrainOptions options;
  options.kernels.device = DeviceKind::kCuda;
  const gpu::DevicePlace place = PlaceOnDevice(options, 0);
  EXPECT_EQ(place.api, nullptr);
  EXPECT_THAT(place.no_device, HasSubstr("no CUDA"));
}

TEST_F(DeviceChoiceTest, NcclIsBetweenDevicesOnly) {
  TrainOptions options;
  options.cluster.collective = CollectiveChoice::kNccl;
  const Status status = CheckCollective(options, 2);
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_EQ(status.message(),
            "--collective nccl requires --device cuda or emulated, "
            "found cpu");
  options.kernels.device = DeviceKind::kEmulated;
  EXPECT_TRUE(CheckCollective(options, 2).ok());
}

// Any missing part leads to the error: the library, NCCL, or a device.
TEST_F(DeviceChoiceTest, UnavailableNccl_IsRefusedInOneLine) {
  TrainOptions options;
  options.kernels.device = DeviceKind::kCuda;
  EXPECT_TRUE(CheckCollective(options, 1000).ok());
  options.cluster.collective = CollectiveChoice::kNccl;
  const Status status = CheckCollective(options, 1000);
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(status.message().find('\n'), std::string::npos);
}

}  // namespace
}  // namespace gauntlet
