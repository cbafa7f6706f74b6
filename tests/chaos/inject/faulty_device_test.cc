#include "chaos/inject/faulty_device.h"

#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/gpu/emulated_device.h"
#include "tests/chaos/inject/recording_world.h"

namespace gauntlet {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr Point kHere = Point::kStepBegin;

Fault Of(FaultKind kind) {
  return {.id = "f", .site = {.point = kHere}, .kind = kind};
}

// A process that computes on the emulated device.
class Process {
 public:
  explicit Process(Fault fault)
      : plan_{.faults = {std::move(fault)}},
        incarnation_(plan_, {}, fired_),
        device_({.api = &gpu::EmulatedDevice()}, incarnation_.injector) {}

  Status Open() {
    auto opened = gpu::OpenDevice(device_.place());
    if (opened.ok()) kernels_ = *std::move(opened);
    return opened.status();
  }
  void ComeToThePoint() {
    EXPECT_TRUE(incarnation_.injector.Hit(kHere, {}).ok());
  }
  Kernels& kernels() { return *kernels_; }
  Memory& memory() { return kernels_->memory(); }

  // Returns 1 + 2 + 3, computed on the device.
  float SumThere() {
    const std::vector<float> values = {1.0f, 2.0f, 3.0f};
    MemoryArray<float> there(memory());
    there.Resize(values.size());
    memory().Upload(there.span().data(), values.data(),
                    values.size() * sizeof(float));
    return kernels_->Sum(there.span());
  }
  // Returns the effects on the task that waits for the device.
  Diary waits() const {
    Diary waits = incarnation_.diary;
    std::erase_if(waits, [](const std::string& line) {
      return line.starts_with(EventKindName(EventKind::kFaultFired));
    });
    return waits;
  }
  bool HasFired() { return fired_.HasFired("f"); }

 private:
  const FaultPlan plan_;
  FiredInMemory fired_;
  RecordedIncarnation incarnation_;
  FaultyDevice device_;
  std::unique_ptr<Kernels> kernels_;
};

TEST(FaultyDeviceTest, IsTheDeviceUntilItsFaultIsDue) {
  Process process(Of(FaultKind::kGpuError));
  ASSERT_TRUE(process.Open().ok());
  EXPECT_EQ(process.SumThere(), 6.0f);
  EXPECT_TRUE(process.kernels().status().ok());
  EXPECT_FALSE(process.HasFired());
}

TEST(FaultyDeviceTest, ErrorComesWithTheNextCallAndStays) {
  for (const DeviceErrorInfo& info : AllDeviceErrors()) {
    Fault fault = Of(FaultKind::kGpuError);
    fault.with.device_error = info.error;
    Process process(fault);
    ASSERT_TRUE(process.Open().ok());
    process.ComeToThePoint();
    EXPECT_FALSE(process.HasFired());
    EXPECT_EQ(process.SumThere(), 0.0f) << info.name;
    EXPECT_TRUE(process.HasFired());
    for (int look = 0; look < 2; ++look) {
      EXPECT_EQ(process.kernels().status().message(),
                fmt::format("emulated device: injected: {} ({})", info.text,
                            info.name));
    }
    EXPECT_EQ(process.SumThere(), 0.0f);
  }
}

TEST(FaultyDeviceTest, FailedDeviceReturnsZerosAndAllocatesNothing) {
  Process process(Of(FaultKind::kGpuError));
  ASSERT_TRUE(process.Open().ok());
  MemoryArray<float> there(process.memory());
  there.Resize(2);
  const std::vector<float> before = {1.0f, 2.0f};
  process.memory().Upload(there.span().data(), before.data(), 8);
  process.ComeToThePoint();
  std::vector<float> brought = {7.0f, 7.0f};
  process.memory().Download(brought.data(), there.span().data(), 8);
  EXPECT_THAT(brought, ElementsAre(0.0f, 0.0f));
  EXPECT_EQ(process.memory().Allocate(8), nullptr);
}

TEST(FaultyDeviceTest, FetchFromAFailedDeviceNeverArrives) {
  Process process(Of(FaultKind::kGpuError));
  ASSERT_TRUE(process.Open().ok());
  MemoryArray<float> there(process.memory());
  there.Resize(1);
  const float before = 1.0f;
  process.memory().Upload(there.span().data(), &before, sizeof before);
  float brought = 7.0f;
  process.memory().Fetch(&brought, there.span().data(), sizeof brought);
  EXPECT_TRUE(process.memory().AwaitFetch().ok());
  EXPECT_EQ(brought, 1.0f);
  // A fetch that began before the failure fails, and so does one after it.
  process.memory().Fetch(&brought, there.span().data(), sizeof brought);
  process.ComeToThePoint();
  process.memory().Clear(there.span().data(), sizeof brought);
  EXPECT_EQ(process.memory().AwaitFetch().code(), Code::kIoError);
  process.memory().Fetch(&brought, there.span().data(), sizeof brought);
  const Status status = process.memory().AwaitFetch();
  EXPECT_EQ(status.code(), Code::kIoError);
  EXPECT_THAT(status.message(),
              HasSubstr("emulated device: it failed before the copy came"));
}

TEST(FaultyDeviceTest, OptionalArrayIsNullWithoutMemory) {
  Process process(Of(FaultKind::kOutOfMemory));
  ASSERT_TRUE(process.Open().ok());
  process.ComeToThePoint();
  MemoryArray<float> there(process.memory());
  EXPECT_FALSE(there.ResizeIfRoom(2));
  EXPECT_EQ(there.size(), 0u);
  EXPECT_TRUE(process.HasFired());
  EXPECT_TRUE(process.kernels().status().ok());
  EXPECT_TRUE(there.ResizeIfRoom(2));
  EXPECT_EQ(process.SumThere(), 6.0f);
}

TEST(FaultyDeviceTest, OperationsOnAllocatedArraysContinueWithoutMemory) {
  Process process(Of(FaultKind::kOutOfMemory));
  ASSERT_TRUE(process.Open().ok());
  MemoryArray<float> there(process.memory());
  there.Resize(1);
  process.ComeToThePoint();
  process.memory().Clear(there.span().data(), sizeof(float));
  EXPECT_TRUE(process.kernels().status().ok());
  there.Resize(2);
  EXPECT_EQ(there.span().data(), nullptr);
  EXPECT_THAT(process.kernels().status().message(),
              HasSubstr("out of memory (cudaErrorMemoryAllocation)"));
}

TEST(FaultyDeviceTest, FaultDueBeforeOpen_FailsTheOpen) {
  for (const FaultKind kind : {FaultKind::kGpuError, FaultKind::kOutOfMemory}) {
    Process process(Of(kind));
    process.ComeToThePoint();
    const Status opened = process.Open();
    EXPECT_EQ(opened.code(), Code::kUnavailable);
    EXPECT_THAT(opened.message(), HasSubstr("emulated device 0: injected: "));
    EXPECT_TRUE(process.HasFired());
  }
}

TEST(FaultyDeviceTest, HangBlocksTheWaitingTask) {
  Fault fault = Of(FaultKind::kDeviceHang);
  for (const Duration duration : {Duration(0), Duration(5)}) {
    fault.with.duration = duration;
    Process process(fault);
    ASSERT_TRUE(process.Open().ok());
    process.ComeToThePoint();
    MemoryArray<float> there(process.memory());
    there.Resize(1);
    process.memory().Clear(there.span().data(), sizeof(float));
    EXPECT_THAT(process.waits(), IsEmpty());
    EXPECT_TRUE(process.kernels().status().ok());
    EXPECT_THAT(process.waits(),
                ElementsAre(duration == Duration(0) ? "hang" : "sleep 5"));
    // After the hang, the device has completed all its work.
    EXPECT_EQ(process.SumThere(), 6.0f);
  }
}

TEST(FaultyDeviceTest, ReleasingAnArrayTriggersNoFault) {
  Process process(Of(FaultKind::kGpuError));
  ASSERT_TRUE(process.Open().ok());
  {
    MemoryArray<float> there(process.memory());
    there.Resize(1);
    process.ComeToThePoint();
  }
  EXPECT_FALSE(process.HasFired());
}

TEST(FaultyDeviceTest, ReturnsNoDevice_WhenThereIsNone) {
  const FaultPlan plan;
  FiredInMemory fired;
  RecordedIncarnation process(plan, {}, fired);
  EXPECT_EQ(FaultyDevice({}, process.injector).place().api, nullptr);
}

}  // namespace
}  // namespace gauntlet
