#include "chaos/inject/plan/plan.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/chaos/inject/plan/plan_generator.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

TEST(FaultKindTest, TableIsInTheOrderOfTheEnumAndNamesAreTheirOwn) {
  for (size_t i = 0; i < AllFaultKinds().size(); ++i) {
    const FaultKindInfo& info = AllFaultKinds()[i];
    EXPECT_EQ(static_cast<size_t>(info.kind), i);
    EXPECT_EQ(FindFaultKind(info.name), info.kind);
    EXPECT_FALSE(info.description.empty()) << info.name;
  }
  EXPECT_EQ(AllFaultKinds().back().kind, FaultKind::kTerminateLauncher);
  EXPECT_EQ(FindFaultKind("meteor"), std::nullopt);
}

TEST(FaultKindTest, ErrorsOfADeviceAreInTheOrderOfTheEnum) {
  for (size_t i = 0; i < AllDeviceErrors().size(); ++i) {
    const DeviceErrorInfo& info = AllDeviceErrors()[i];
    EXPECT_EQ(static_cast<size_t>(info.error), i);
    EXPECT_EQ(DeviceErrorText(info.error),
              fmt::format("injected: {} ({})", info.text, info.name));
  }
  EXPECT_EQ(AllDeviceErrors().back().error, DeviceError::kMemoryAllocation);
}

TEST(FaultKindTest, OnlyLossOfPowerIsNotForRealProcesses) {
  for (const FaultKindInfo& info : AllFaultKinds()) {
    const Fault fault{.id = "f", .kind = info.kind};
    EXPECT_EQ(SimOnlyReason(fault).empty(), info.kind != FaultKind::kPowerLoss);
  }
  EXPECT_FALSE(SimOnlyReason({.kind = FaultKind::kTornWrite,
                              .with = {.then = AfterTear::kPowerLoss}})
                   .empty());
  EXPECT_FALSE(SimOnlyReason({.kind = FaultKind::kPartition,
                              .with = {.groups = {{0}, {1}}}})
                   .empty());
}

TEST(FaultErrorTest, HasTheStatusCodeOfStorageErrors) {
  EXPECT_EQ(FaultErrorStatus(ENOSPC, Point::kAllReduceBegin).code(),
            Code::kResourceExhausted);
  EXPECT_EQ(FaultErrorStatus(EMFILE, Point::kAllReduceBegin).code(),
            Code::kIoError);
  EXPECT_EQ(FaultErrorStatus(ENOENT, Point::kAllReduceBegin).code(),
            Code::kNotFound);
  EXPECT_EQ(FaultErrorStatus(EIO, Point::kAllReduceBegin).code(),
            Code::kIoError);
  EXPECT_EQ(FaultErrorStatus(ECONNRESET, Point::kAllReduceBegin).code(),
            Code::kUnavailable);
  EXPECT_EQ(FaultErrorStatus(12345, Point::kAllReduceBegin).ToString(),
            "IO_ERROR: comm.allreduce.begin: injected error 12345");
  EXPECT_EQ(FaultErrorStatus(EPIPE, Point::kShardWrite).code(), Code::kIoError)
      << "storage has no other name for it";
}

TEST(FileOffsetTest, PercentagesAreOfTheFileRoundedDown) {
  const auto percent = [](uint64_t value) {
    return FileOffset{.value = value, .unit = OffsetUnit::kPercent};
  };
  EXPECT_EQ(percent(50).In(1001), 500u);
  EXPECT_EQ(percent(0).In(1000), 0u);
  EXPECT_EQ(percent(100).In(~uint64_t{0}), ~uint64_t{0});
  EXPECT_EQ((FileOffset{.value = 7}).In(3), 7u);
}

struct BadPlan {
  std::string message;  // part of the error message
  FaultPlan plan;
};

std::vector<BadPlan> BadPlans() {
  const FileOffset too_far{.value = 101, .unit = OffsetUnit::kPercent};
  const auto one = [](Fault fault) {
    if (fault.id.empty()) fault.id = "f";
    return FaultPlan{.faults = {std::move(fault)}};
  };
  return {
      {"fault ../f: id", one({.id = "../f"})},
      {"found 65 characters", one({.id = std::string(65, 'x')})},
      {"another fault of that id", {.faults = {{.id = "f"}, {.id = "f"}}}},
      {"at.worker", one({.site = {.worker = -4}})},
      {"at.incarnation", one({.site = {.incarnation = -1}})},
      {"at.occurrence", one({.site = {.occurrence = 0}})},
      {"found step.begin", one({.site = {.offset = FileOffset{}}})},
      {"at.save: expected a point of a save, found step.begin",
       one({.site = {.save = 1}})},
      {"at.save", one({.site = {.save = 0, .point = Point::kRename}})},
      {"at.block", one({.site = {.point = Point::kRename, .block = 1}})},
      {"at.block", one({.site = {.point = Point::kShardWrite,
                                 .block = kAnyBlock,
                                 .offset = FileOffset{}}})},
      {"with.latency",
       one({.kind = FaultKind::kKill, .with = {.kill_latency = Duration(-1)}})},
      {"at.offset: expected at most 100%, found 101%",
       one({.site = {.point = Point::kShardWrite, .offset = too_far}})},
      {"parameters that crash takes (exit_code)",
       one({.with = {.grace = Duration(1)}})},
      {"with.until_step", one({.with = {.until_step = 3}})},
      {"with.latency",
       one({.kind = FaultKind::kSlow, .with = {.latency = Duration(-1)}})},
      {"with.exit_code", one({.with = {.exit_code = 256}})},
      {"with.error",
       one({.kind = FaultKind::kErrno, .with = {.error = 12345}})},
      {"with.consecutive: expected 1 to 1000000, found 0",
       one({.kind = FaultKind::kErrno, .with = {.hits = 0}})},
      {"with.consecutive: expected 1 to 1000000, found 1000001",
       one({.kind = FaultKind::kErrno, .with = {.hits = 1'000'001}})},
      {"with.duration: expected 0 to 24 hours",
       one({.kind = FaultKind::kHang,
            .with = {.duration = std::chrono::hours(25)}})},
      {"with.blocks: expected 1 to 64, found 0",
       one({.kind = FaultKind::kTornWrite, .with = {.blocks = 0}})},
      {"with.blocks",
       one({.kind = FaultKind::kTornWrite, .with = {.blocks = 65}})},
      {"with.keep: expected blocks below 2",
       one({.kind = FaultKind::kTornWrite, .with = {.blocks = 2, .keep = 4}})},
      {"a block that does not land",
       one({.kind = FaultKind::kTornWrite, .with = {.blocks = 2, .keep = 3}})},
      {"with.bit", one({.kind = FaultKind::kBitFlip, .with = {.bit = 8}})},
      {"with.groups: expected none, or two and more, found one",
       one({.kind = FaultKind::kPartition, .with = {.groups = {{0, 1}}}})},
      {"with.groups: expected workers in each group",
       one({.kind = FaultKind::kPartition, .with = {.groups = {{0}, {}}}})},
      {"with.groups: expected each worker once, found worker 1 twice",
       one({.kind = FaultKind::kPartition, .with = {.groups = {{1}, {1}}}})},
      {"with.groups: expected numbers of workers",
       one({.kind = FaultKind::kPartition, .with = {.groups = {{1}, {-3}}}})},
      {"with.percent",
       one({.kind = FaultKind::kPacketLoss, .with = {.percent = 91}})},
      {"with.jitter",
       one({.kind = FaultKind::kDelay, .with = {.jitter = Duration(-1)}})},
      {"with.by: expected whole seconds",
       one({.kind = FaultKind::kWallClockJump, .with = {.by = Duration(1)}})},
      {"parameters that connection_reset takes ()",
       one({.kind = FaultKind::kConnectionReset,
            .with = {.duration = Duration(1)}})},
      {"after: expected the id of a fault of this plan, found g",
       one({.after = "g"})},
      {"after itself", one({.after = "f"})},
      {"after itself",
       {.faults = {{.id = "a", .after = "c"},
                   {.id = "b", .after = "a"},
                   {.id = "c", .after = "b"}}}},
      {"bugs", {.bugs = {PlantedBug::kLoseRngKey, PlantedBug::kLoseRngKey}}},
  };
}

TEST(ValidateTest, RefusesAndNamesMeaninglessValues) {
  for (const BadPlan& bad : BadPlans()) {
    const Status status = Validate(bad.plan);
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << bad.message;
    EXPECT_NE(status.message().find(bad.message), std::string::npos)
        << "expected \"" << bad.message << "\" in: " << status.message();
  }
}

TEST(ValidateTest, FollowsALongChainInLittleTime) {
  FaultPlan plan;
  for (int i = 0; i < 10000; ++i) {
    plan.faults.push_back({.id = std::to_string(i),
                           .after = i == 9999 ? "" : std::to_string(i + 1)});
  }
  EXPECT_EQ(Validate(plan).ToString(), "OK");
}

RC_GTEST_PROP(ValidateProperty, AcceptsEveryGeneratedPlan, ()) {
  RC_ASSERT(Validate(*ArbitraryPlan()).ToString() == "OK");
}

}  // namespace
}  // namespace gauntlet
