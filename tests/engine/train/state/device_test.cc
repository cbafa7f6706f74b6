#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/gpu/emulated_device.h"
#include "engine/train/loop/job_model.h"
#include "engine/train/loop/loop_hooks.h"
#include "engine/train/loop/trainer.h"
#include "engine/train/state/resident_state.h"
#include "engine/train/state/state_copy.h"
#include "tests/engine/train/guarded_device.h"
#include "tests/engine/train/training_fixture.h"

namespace gauntlet {
namespace {

using ::testing::HasSubstr;

TrainOptions OnDevice(TrainOptions options) {
  options.kernels.device = DeviceKind::kEmulated;
  return options;
}

TrainOptions SmallCnnRun() {
  TrainOptions options = SmallRun();
  options.job.model.layers = {
      {.kind = LayerKind::kConv2D, .filters = 5, .kernel = 3},
      {.kind = LayerKind::kRelu},
      {.kind = LayerKind::kConv2D, .filters = 3, .kernel = 2},
      {.kind = LayerKind::kGelu},
      {.kind = LayerKind::kFlatten},
      {.kind = LayerKind::kDropout, .rate = 0.3f},
      {.kind = LayerKind::kDense, .units = 10}};
  options.horizon.epochs = 2;
  return options;
}

TrainOptions RunWithMomentumAndMeans() {
  TrainOptions options = SmallRun();
  options.job.model.loss = LossKind::kMeanSquaredError;
  options.job.model.layers.insert(
      options.job.model.layers.begin() + 1,
      {.kind = LayerKind::kCenter, .momentum = 0.9f});
  options.job.optimizer.kind = OptimizerKind::kSgd;
  options.job.optimizer.momentum = 0.9f;
  options.job.optimizer.clip = {.kind = ClipKind::kGlobalNorm, .limit = 0.5f};
  options.job.accumulate = 3;
  return options;
}

// A job's state on an emulated device. Its samples are images of 7 x 7 pixels.
struct EmulatedState {
  explicit EmulatedState(const JobSpec& job,
                         const gpu::DeviceApi& api = gpu::EmulatedDevice())
      : model(BuildJobModel(job, {.height = 7, .width = 7}, 10,
                            {.device = DeviceKind::kEmulated}, {.api = &api})
                  .value()),
        state(*model.model, *model.optimizer, job),
        resident(state, *model.kernels, faults) {}

  JobModel model;
  NoFaults faults;
  TrainState state;
  ResidentState resident;
};

// Returns the states with the bits of their losses.
std::vector<std::string> StatesOf(const AttemptResult& outcome) {
  std::vector<std::string> states;
  for (const LogEvent& event : outcome.events[0]) {
    if (event.kind != EventKind::kStep && event.kind != EventKind::kEvaluated) {
      continue;
    }
    states.push_back(fmt::format("step {}: {}, loss {:#x}, {} right",
                                 event.step, event.digest.value().ToString(),
                                 event.loss_bits, event.count));
  }
  return states;
}

AttemptResult RunGuarded(int workers, const TrainOptions& options) {
  TrainingFixture fixture;
  fixture.ComputeOn(GuardedDevice());
  return fixture.Run(workers, OnDevice(options));
}

void ExpectTheCpusStates(const TrainOptions& options) {
  const AttemptResult cpu = TrainingFixture().Run(1, options);
  ASSERT_TRUE(cpu.AllExitedWith(WorkerExit::kDone));
  ASSERT_FALSE(StatesOf(cpu).empty());
  for (const int workers : {1, 2}) {
    const AttemptResult device = RunGuarded(workers, options);
    ASSERT_TRUE(device.AllExitedWith(WorkerExit::kDone)) << device.reasons[0];
    EXPECT_EQ(StatesOf(device), StatesOf(cpu)) << workers << " workers";
    EXPECT_EQ(device.result->digest, cpu.result->digest);
    EXPECT_EQ(device.result->val_accuracy, cpu.result->val_accuracy);
  }
}

TEST(DeviceTest, EveryStateOfAnMlpIsTheCpus) {
  ExpectTheCpusStates(SmallRun());
}

TEST(DeviceTest, EveryStateOfACnnIsTheCpus) {
  ExpectTheCpusStates(SmallCnnRun());
}

TEST(DeviceTest, EveryStateWithMomentumMeansClippingAndAccumulationIsTheCpus) {
  ExpectTheCpusStates(RunWithMomentumAndMeans());
}

class HalvingHooks final : public LoopHooks {
 public:
  Status StepEnd(TrainState& state, const StepOutcome& /*outcome*/) override {
    for (float& value : state.parameters) value *= 0.5f;
    return OkStatus();
  }
};

TEST(DeviceTest, TrainsWithTheParametersThatAHookChanged) {
  HalvingHooks hooks;
  TrainingFixture host;
  host.set_hooks(&hooks);
  const AttemptResult cpu = host.Run(1, SmallRun());
  ASSERT_TRUE(cpu.AllExitedWith(WorkerExit::kDone));
  TrainingFixture fixture;
  fixture.set_hooks(&hooks);
  fixture.ComputeOn(GuardedDevice());
  const AttemptResult device = fixture.Run(1, OnDevice(SmallRun()));
  ASSERT_TRUE(device.AllExitedWith(WorkerExit::kDone)) << device.reasons[0];
  EXPECT_EQ(StatesOf(device), StatesOf(cpu));
}

// With digests only at saves, the newest state stays on the device in between.
TEST(DeviceTest, RunWithoutStepDigestsEndsInTheSameState) {
  TrainOptions options = SmallRun();
  options.digest_every = 0;
  const AttemptResult device = RunGuarded(1, options);
  EXPECT_EQ(device.result->digest, UndisturbedDigest(options));
}

TEST(DeviceTest, RunMayMoveToADeviceAndBackBetweenItsIncarnations) {
  TrainingFixture fixture;
  fixture.ComputeOn(GuardedDevice());
  TrainOptions options = SmallRun();
  options.horizon.stop_at_step = 7;
  EXPECT_TRUE(fixture.Run(2, options).AllExitedWith(WorkerExit::kStopped));
  options.horizon.stop_at_step = 15;
  EXPECT_TRUE(
      fixture.Run(1, OnDevice(options)).AllExitedWith(WorkerExit::kStopped));
  options.horizon.stop_at_step.reset();
  const AttemptResult last = fixture.Run(2, options);
  EXPECT_EQ(last.result->resumed_from, 15u);
  EXPECT_EQ(last.result->digest, UndisturbedDigest(SmallRun()));
}

// A device that is lost at the given status check. Opened again, it works.
template <int kAtLook>
const gpu::DeviceApi& FailingDevice() {
  static int opened = 0;
  static int looks = 0;
  static const gpu::DeviceApi api = [] {
    gpu::DeviceApi table = GuardedDevice();
    table.open = [](int index, gpu::DeviceText* why) {
      ++opened;
      return GuardedDevice().open(index, why);
    };
    table.failure = [](gpu::Device*) {
      return opened == 1 && ++looks >= kAtLook ? "unspecified launch failure"
                                               : "";
    };
    return table;
  }();
  return api;
}

void ExpectRecoveryFrom(const gpu::DeviceApi& failing) {
  TrainingFixture fixture;
  fixture.ComputeOn(failing);
  TrainOptions options = OnDevice(SmallRun());
  options.digest_every = 0;
  const AttemptResult first = fixture.Run(1, options);
  EXPECT_TRUE(first.AllExitedWith(WorkerExit::kLostWorker));
  EXPECT_THAT(first.reasons[0],
              HasSubstr("emulated device: unspecified launch failure"));
  const AttemptResult second = fixture.Run(1, options);
  EXPECT_TRUE(second.AllExitedWith(WorkerExit::kDone));
  EXPECT_EQ(second.result->resumed_from, 5u);
  EXPECT_EQ(second.result->digest, UndisturbedDigest(SmallRun()));
}

// Each step checks the device's status twice, and the save of step 5 once.
TEST(DeviceTest,
     DeviceThatFailsInAPassEndsTheIncarnationAndTheNextOneContinues) {
  ExpectRecoveryFrom(FailingDevice<14>());
}

TEST(DeviceTest,
     DeviceThatFailsInAnUpdateEndsTheIncarnationAndTheNextOneContinues) {
  ExpectRecoveryFrom(FailingDevice<15>());
}

// In each run, the device fails at one of its status checks. The test makes a
// run for every third check. Each run has a digest after each step. So the
// check that fails is that of a step, of a digest, of a save or of the end.
TEST(DeviceTest,
     WorkerReportsADeviceFailureAnywhere_AndTheNextIncarnationContinues) {
  static int looks_left = 0;
  static const gpu::DeviceApi api = [] {
    gpu::DeviceApi table = gpu::EmulatedDevice();
    table.failure = [](gpu::Device*) {
      return --looks_left == 0 ? "unspecified launch failure" : "";
    };
    return table;
  }();
  TrainOptions options = OnDevice(SmallRun());
  const std::string undisturbed = UndisturbedDigest(SmallRun());
  int failed = 0;
  for (int look = 1; look < 400; look += 3) {
    TrainingFixture fixture;
    fixture.ComputeOn(api);
    looks_left = look;
    const AttemptResult first = fixture.Run(1, options);
    if (looks_left > 0) break;
    ++failed;
    ASSERT_TRUE(first.AllExitedWith(WorkerExit::kLostWorker)) << look;
    EXPECT_THAT(first.reasons[0], HasSubstr("unspecified launch failure"));
    EXPECT_EQ(fixture.Run(1, options).result->digest, undisturbed) << look;
  }
  EXPECT_GT(failed, 20);
}

// Covers tensors of less than a block, of one and more, and with a few bytes
// after the last complete block.
TEST(DeviceTest, DigestIsComputedOnTheDevice) {
  static size_t brought = 0;
  static const gpu::DeviceApi api = [] {
    gpu::DeviceApi table = gpu::EmulatedDevice();
    table.download = [](gpu::Device* device, void* to, const void* from,
                        size_t bytes) {
      brought += bytes;
      gpu::EmulatedDevice().download(device, to, from, bytes);
    };
    return table;
  }();
  JobSpec job = PresetJob("tiny").value();
  job.model.layers = {{.kind = LayerKind::kFlatten},
                      {.kind = LayerKind::kDense, .units = 335},
                      {.kind = LayerKind::kDense, .units = 700},
                      {.kind = LayerKind::kDense, .units = 10}};
  ASSERT_EQ(49 * 335 % 16384, 31);
  EmulatedState emulated(job, api);
  TrainState& state = emulated.state;
  ResidentState& resident = emulated.resident;
  const Digest before = state.ComputeDigest();
  EXPECT_EQ(resident.NewestDigest().value(), before);
  std::vector<float> trained(state.parameters.size(), 0.5f);
  trained.front() = std::numeric_limits<float>::quiet_NaN();
  trained.back() = -0.0f;
  emulated.model.kernels->memory().Upload(resident.parameters().data(),
                                          trained.data(),
                                          trained.size() * sizeof(float));
  resident.MarkChanged();
  brought = 0;
  const Digest newest = resident.NewestDigest().value();
  EXPECT_LT(brought, trained.size() * sizeof(float) / 100);
  EXPECT_NE(newest, before);
  EXPECT_NE(state.parameters[1], 0.5f) << "nothing was brought here";
  ASSERT_TRUE(resident.SyncToHost().ok());
  EXPECT_EQ(state.parameters[1], 0.5f);
  EXPECT_EQ(state.ComputeDigest(), newest);
}

// A worker pins its state, and the gradients that go through the host for as
// long as they are needed.
TEST(DeviceTest, PinsMemoryThatIsCopiedAndReleasesIt) {
  static std::map<void*, size_t> pinned;
  static size_t most = 0;
  static const gpu::DeviceApi api = [] {
    gpu::DeviceApi table = gpu::EmulatedDevice();
    table.pin = [](gpu::Device*, void* memory, size_t bytes) {
      EXPECT_TRUE(pinned.emplace(memory, bytes).second);
      most = std::max(most, pinned.size());
    };
    table.unpin = [](gpu::Device*, void* memory) {
      EXPECT_EQ(pinned.erase(memory), 1u);
    };
    return table;
  }();
  const auto most_of = [](int workers, SaveMode mode = SaveMode::kSync) {
    most = 0;
    TrainingFixture fixture;
    fixture.ComputeOn(api);
    TrainOptions options = OnDevice(SmallRun());
    options.checkpoint.mode = mode;
    EXPECT_TRUE(fixture.Run(workers, options).AllExitedWith(WorkerExit::kDone));
    EXPECT_TRUE(pinned.empty());
    return most;
  };
  // Parameters and two slots are pinned. A single worker sums on the device, so
  // its gradients are not.
  EXPECT_EQ(most_of(1), 3u);
  // The copy that an asynchronous save writes is pinned too.
  EXPECT_EQ(most_of(1, SaveMode::kAsync), 4u);
  // The gradients of each worker's replicas, which the totals replace, are
  // pinned too.
  EXPECT_EQ(most_of(2), 2 * 3u + 2);
}

// A state on a device, and the result of a call that needs the device.
struct LostStateCase {
  const char* name;
  std::function<Status(ResidentState&)> call;
};

class LostStateTest : public testing::TestWithParam<LostStateCase> {};

INSTANTIATE_TEST_SUITE_P(
    Calls, LostStateTest,
    testing::Values(LostStateCase{"Sync",
                                  [](ResidentState& resident) {
                                    return resident.SyncToHost();
                                  }},
                    LostStateCase{"Digest",
                                  [](ResidentState& resident) {
                                    return resident.NewestDigest().status();
                                  }},
                    LostStateCase{"Restore",
                                  [](ResidentState& resident) {
                                    return resident.SyncForHostUpdate();
                                  }},
                    LostStateCase{"Copy",
                                  [](ResidentState& resident) {
                                    StateCopy copy;
                                    return copy.Take(
                                        resident,
                                        resident.host().TensorsOf({}));
                                  }}),
    [](const auto& tested) { return std::string(tested.param.name); });

// Once one of the calls has found the failure, all of them report it.
TEST_P(LostStateTest, StaysLost_OnceTheDeviceHasFailed) {
  static bool failed = false;
  static const gpu::DeviceApi api = [] {
    gpu::DeviceApi table = gpu::EmulatedDevice();
    table.failure = [](gpu::Device*) { return failed ? "lost" : ""; };
    return table;
  }();
  failed = false;
  EmulatedState emulated(PresetJob("tiny").value(), api);
  TrainState& state = emulated.state;
  ResidentState& resident = emulated.resident;
  static_cast<void>(resident.parameters());
  resident.MarkChanged();
  EXPECT_TRUE(resident.SyncToHost().ok());
  resident.MarkChanged();
  EXPECT_TRUE(resident.device_status().ok());
  failed = true;
  EXPECT_EQ(GetParam().call(resident).message(), "emulated device: lost");
  failed = false;  // a later answer of the device changes nothing
  EXPECT_EQ(resident.device_status().message(), "emulated device: lost");
  EXPECT_EQ(resident.SyncToHost().code(), Code::kUnavailable);
  EXPECT_EQ(resident.NewestDigest().status().code(), Code::kUnavailable);
  EXPECT_EQ(resident.SyncForHostUpdate().code(), Code::kUnavailable);
  StateCopy copy;
  EXPECT_EQ(copy.Take(resident, state.TensorsOf({})).code(),
            Code::kUnavailable);
  EXPECT_DEATH(static_cast<void>(resident.parameters()),
               "lost with the device");
}

// A worker that receives a state replaces the one on its device.
TEST(DeviceTest, TrainsFromTheHost_OnceTheHostHasChanged) {
  EmulatedState emulated(PresetJob("tiny").value());
  TrainState& state = emulated.state;
  ResidentState& resident = emulated.resident;
  static_cast<void>(resident.parameters());
  resident.MarkChanged();
  ASSERT_TRUE(resident.SyncForHostUpdate().ok());
  std::ranges::fill(state.parameters, 0.25f);
  const Digest changed = state.ComputeDigest();
  static_cast<void>(resident.parameters());
  resident.MarkChanged();
  EXPECT_EQ(resident.NewestDigest().value(), changed);
  std::ranges::fill(state.parameters, 0.0f);
  ASSERT_TRUE(resident.SyncToHost().ok());
  EXPECT_EQ(state.parameters.back(), 0.25f);
}

TEST(DeviceTest, RefusesAChange_BeforeTheStateIsOnTheDevice) {
  EmulatedState emulated(PresetJob("tiny").value());
  ResidentState& resident = emulated.resident;
  EXPECT_DEATH(resident.MarkChanged(), "not a transition");
  static_cast<void>(resident.parameters());
  ASSERT_TRUE(resident.SyncForHostUpdate().ok());
  EXPECT_DEATH(resident.MarkChanged(), "not a transition");
}

// Two workers share the device. A worker that learns of the failure from the
// other one has no state left to rejoin with.
TEST(DeviceTest, DeviceThatFailsUnderTwoWorkersEndsBothIncarnations) {
  static int looks_left = 0;
  static const gpu::DeviceApi api = [] {
    gpu::DeviceApi table = GuardedDevice();
    table.failure = [](gpu::Device*) {
      return --looks_left < 0 ? "unspecified launch failure" : "";
    };
    return table;
  }();
  TrainOptions options = OnDevice(SmallRun());
  options.digest_every = 0;
  options.cluster.on_loss = OnLoss::kRejoin;
  for (int look = 1; look < 16; ++look) {  // before the first save
    looks_left = look;
    TrainingFixture fixture;
    fixture.ComputeOn(api);
    EXPECT_TRUE(fixture.Run(2, options).AllExitedWith(WorkerExit::kLostWorker))
        << look;
  }
}

// The ring sums arrays in the program's memory.
TEST(DeviceTest, JobModelOnADeviceHasKernelsOfTheHostToo) {
  const TrainOptions options = OnDevice(SmallRun());
  const auto built = BuildJobModel(options.job, {.height = 7, .width = 7}, 10,
                                   options.kernels, {.api = &GuardedDevice()});
  ASSERT_TRUE(built.ok()) << built.status().ToString();
  EXPECT_EQ(built->kernels->memory().kind(), MemoryKind::kDevice);
  EXPECT_EQ(built->kernels_for_host().memory().kind(), MemoryKind::kHost);
  EXPECT_EQ(
      BuildJobModel(options.job, {.height = 7, .width = 7}, 10, options.kernels)
          .status()
          .code(),
      Code::kInvalidArgument);
}

TEST(DeviceTest, MissingDevice_IsTheWorkersOwnFault) {
  TrainingFixture fixture;
  fixture.ComputeOnNothing("no CUDA device: the driver has none");
  const AttemptResult incarnation = fixture.Run(1, OnDevice(SmallRun()));
  EXPECT_TRUE(incarnation.AllExitedWith(WorkerExit::kLostWorker));
  EXPECT_THAT(incarnation.of_themselves,
              testing::ElementsAre("no CUDA device: the driver has none"));
}

TEST(DeviceTest, ReportsMissingMemoryAndExits) {
  static const gpu::DeviceApi api = [] {
    gpu::DeviceApi table = gpu::EmulatedDevice();
    table.open = [](int, gpu::DeviceText*) {
      gpu::EmulatedMemory none = gpu::HostMemoryOfDevice();
      none.allocate = [](void*, size_t bytes) -> void* {
        return bytes > 4000
                   ? nullptr
                   : gpu::HostMemoryOfDevice().allocate(nullptr, bytes);
      };
      return gpu::OpenEmulated({.memory = none});
    };
    return table;
  }();
  TrainingFixture fixture;
  fixture.ComputeOn(api);
  const AttemptResult incarnation = fixture.Run(1, OnDevice(SmallRun()));
  EXPECT_TRUE(incarnation.AllExitedWith(WorkerExit::kLostWorker));
  EXPECT_THAT(incarnation.reasons[0], HasSubstr("device memory"));
}

}  // namespace
}  // namespace gauntlet
