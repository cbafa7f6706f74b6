// State, data and arrays that a worker keeps when it joins another generation,
// in the simulated world.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/cluster/ring/emulated_collective.h"
#include "engine/gpu/emulated_device.h"
#include "tests/engine/train/launched_run.h"
#include "tests/engine/train/training_fixture.h"

namespace gauntlet {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

const FaultPlan kCrashOfWorkerOne = {
    .faults = {{.id = "crash",
                .site = {.worker = 1, .step = 8, .point = Point::kStepBegin},
                .kind = FaultKind::kCrash}}};

// Runs the four replicas on that many workers. Expects the state of an
// undisturbed run.
LaunchedEnd RunWorkers(LaunchedRun& run, int workers, const FaultPlan& plan) {
  static const std::string undisturbed = UndisturbedDigest(SmallRun());
  LaunchedEnd end =
      run.Run({.workers = workers, .restart = RestartPolicy::kRejoin}, plan);
  EXPECT_EQ(end.launch.result.value_or(TrainResult()).digest, undisturbed)
      << end.launch.reason;
  return end;
}

LaunchedEnd RunTwo(LaunchedRun& run, const FaultPlan& plan) {
  return RunWorkers(run, 2, plan);
}

// Returns, for each start of a worker in that generation, the duration of the
// part `build`.
std::vector<Duration> BuildTimes(const LaunchedEnd& end, uint64_t generation) {
  std::vector<Duration> times;
  for (const LogEvent& start : end.Of(EventKind::kStartTimes)) {
    if (start.generation != generation) continue;
    const auto build =
        std::ranges::find(start.parts, TimePart::kBuild, &PartTime::part);
    times.push_back(build == start.parts.end() ? Duration(0) : build->took);
  }
  return times;
}

TEST(SurvivorTest, OnlyTheNewProcessLoadsTheData) {
  constexpr Duration kLoading = std::chrono::seconds(1);
  TrainOptions options = SmallRun();
  options.checkpoint = {};
  LaunchedRun run(options, {});
  run.LoadFor(kLoading);
  const LaunchedEnd end = RunTwo(run, kCrashOfWorkerOne);
  EXPECT_THAT(end.Of(EventKind::kWorkerStarted), SizeIs(3));
  EXPECT_THAT(BuildTimes(end, 1), Each(Ge(kLoading)));
  EXPECT_THAT(BuildTimes(end, 2),
              UnorderedElementsAre(Duration(0), Ge(kLoading)));
}

// Slows the state file that the chief writes after the save of step 5. (The
// first state file is the claim's.)
Fault SlowStateFile(Duration latency) {
  return {.id = "slow",
          .site = {.worker = 0, .point = Point::kStateSync, .occurrence = 2},
          .kind = FaultKind::kSlow,
          .with = {.latency = latency}};
}

// The chief's task that retires old checkpoints ends after the loss.
TEST(SurvivorTest, ReportsASaveFinishedAfterTheLoop) {
  FaultPlan plan = kCrashOfWorkerOne;
  plan.faults.push_back(SlowStateFile(std::chrono::milliseconds(500)));
  plan.faults.push_back({.id = "error",
                         .site = {.worker = 0, .point = Point::kSaveEnd},
                         .kind = FaultKind::kErrno});
  LaunchedRun run(SmallRun(), {});
  const LaunchedEnd end = RunTwo(run, plan);
  EXPECT_THAT(end.Of(EventKind::kResumedFromMemory), SizeIs(2));
  EXPECT_THAT(end.Of(EventKind::kSaveAcknowledged), SizeIs(5));
  EXPECT_EQ(end.launch.result.value_or(TrainResult()).times.saves, 5u);
  EXPECT_THAT(end.lines, Contains(HasSubstr("ckpt.end: injected")));
}

// Writing the state file takes longer than the launcher waits for a sign of
// life of the chief during a step, but less than the limit of a save.
TEST(SurvivorTest, MayFinishItsSaveForAsLongAsASaveMayTake) {
  TrainOptions options = SmallRun();
  options.checkpoint.mode = SaveMode::kAsync;
  FaultPlan plan = kCrashOfWorkerOne;
  plan.faults.push_back(SlowStateFile(std::chrono::seconds(6)));
  LaunchedRun run(options, {});
  const LaunchedEnd end = RunTwo(run, plan);
  EXPECT_THAT(end.Of(EventKind::kResumedFromMemory), SizeIs(2));
  EXPECT_EQ(end.launch.restarts, 1);
}

// The save of step 10 removes that of step 5. The removal takes longer than
// rendezvous_timeout. Worker 1 is lost before the first exchange after the
// save, and after several exchanges.
TEST(SurvivorTest, SurvivorsWaitForASlowRemoval_LongerThanForARendezvous) {
  for (const uint64_t step : {11, 14}) {
    for (const SaveMode mode : {SaveMode::kSync, SaveMode::kAsync}) {
      TrainOptions options = SmallRun();
      options.checkpoint.mode = mode;
      options.checkpoint.keep = 1;
      const FaultPlan plan = {
          .faults = {
              {.id = "crash",
               .site = {.worker = 1, .step = step, .point = Point::kStepBegin},
               .kind = FaultKind::kCrash},
              {.id = "slow",
               .site = {.worker = 0, .point = Point::kRetireRemove},
               .kind = FaultKind::kSlow,
               .with = {.latency = std::chrono::seconds(7)}}}};
      LaunchedRun run(options, {});
      const LaunchedEnd end = RunWorkers(run, 4, plan);
      EXPECT_THAT(end.Of(EventKind::kResumedFromMemory), SizeIs(4)) << step;
      EXPECT_EQ(end.launch.restarts, 1) << step;
    }
  }
}

// Numbers of arrays of one device.
struct ArrayCounts {
  int allocated = 0;  // on the device
  int pinned = 0;     // on the host
};
std::map<gpu::Device*, ArrayCounts> counts_of;

const gpu::DeviceApi& CountingDevice() {
  static const gpu::DeviceApi api = [] {
    gpu::DeviceApi table = gpu::EmulatedDevice();
    table.open = [](int index, gpu::DeviceText* why) {
      gpu::Device* const device = gpu::EmulatedDevice().open(index, why);
      counts_of[device] = {};
      return device;
    };
    table.allocate = [](gpu::Device* device, size_t bytes) {
      ++counts_of[device].allocated;
      return gpu::EmulatedDevice().allocate(device, bytes);
    };
    table.allocate_if_room = [](gpu::Device* device, size_t bytes) {
      ++counts_of[device].allocated;
      return gpu::EmulatedDevice().allocate_if_room(device, bytes);
    };
    table.pin = [](gpu::Device* device, void* memory, size_t bytes) {
      ++counts_of[device].pinned;
      gpu::EmulatedDevice().pin(device, memory, bytes);
    };
    return table;
  }();
  return api;
}

// Returns the largest number of arrays of each kind that any worker had.
ArrayCounts MostOfAWorker(const TrainOptions& options, const FaultPlan& plan) {
  counts_of.clear();
  gpu::DevicePlace place = EmulatedPlace();
  place.api = &CountingDevice();
  LaunchedRun run(options, place);
  const LaunchedEnd end = RunTwo(run, plan);
  EXPECT_THAT(end.Of(EventKind::kResumedFromMemory),
              SizeIs(plan.faults.empty() ? 0 : 2));
  ArrayCounts most;
  for (const auto& [device, counts] : counts_of) {
    most.allocated = std::max(most.allocated, counts.allocated);
    most.pinned = std::max(most.pinned, counts.pinned);
  }
  return most;
}

TEST(SurvivorTest, AllocatesNoArrayAgain) {
  for (const auto collective :
       {CollectiveChoice::kRing, CollectiveChoice::kNccl}) {
    TrainOptions options = SmallRun();
    options.kernels.device = DeviceKind::kEmulated;
    options.cluster.collective = collective;
    options.checkpoint.mode = SaveMode::kAsync;
    const ArrayCounts undisturbed = MostOfAWorker(options, {});
    const ArrayCounts disturbed = MostOfAWorker(options, kCrashOfWorkerOne);
    EXPECT_GT(undisturbed.allocated, 0);
    EXPECT_GT(undisturbed.pinned, 0);
    EXPECT_LE(disturbed.allocated, undisturbed.allocated);
    EXPECT_LE(disturbed.pinned, undisturbed.pinned);
  }
}

}  // namespace
}  // namespace gauntlet
