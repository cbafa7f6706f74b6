// Saves during training on a device: copying on the device, and fetching.
#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "chaos/inject/faulty_device.h"
#include "engine/ckpt/state/state_digest.h"
#include "engine/gpu/emulated_device.h"
#include "engine/train/loop/job_model.h"
#include "engine/train/state/resident_state.h"
#include "engine/train/state/state_copy.h"
#include "tests/engine/train/guarded_device.h"
#include "tests/engine/train/training_fixture.h"

namespace gauntlet {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TrainOptions AsyncOnDevice() {
  TrainOptions options = SmallRun();
  options.kernels.device = DeviceKind::kEmulated;
  options.checkpoint.mode = SaveMode::kAsync;
  return options;
}

// Bytes that the newest CountingDevice has moved to the host. `has_room`: the
// device has free memory for a copy of the state.
struct Moves {
  size_t downloaded = 0;
  size_t fetched = 0;
  bool has_room = true;
};
Moves moves;

const gpu::DeviceApi& CountingDevice() {
  static const gpu::DeviceApi api = [] {
    gpu::DeviceApi table = GuardedDevice();
    table.download = [](gpu::Device* device, void* to, const void* from,
                        size_t bytes) {
      moves.downloaded += bytes;
      GuardedDevice().download(device, to, from, bytes);
    };
    table.fetch = [](gpu::Device* device, void* to, const void* from,
                     size_t bytes) {
      moves.fetched += bytes;
      GuardedDevice().fetch(device, to, from, bytes);
    };
    table.allocate_if_room = [](gpu::Device* device, size_t bytes) {
      return moves.has_room ? GuardedDevice().allocate_if_room(device, bytes)
                            : nullptr;
    };
    return table;
  }();
  moves = {};
  return api;
}

// A state on a device, and its model.
struct KeptState {
  explicit KeptState(const gpu::DeviceApi& api)
      : job(PresetJob("tiny").value()),
        built(BuildJobModel(job, {.height = 7, .width = 7}, 10,
                            {.device = DeviceKind::kEmulated}, {.api = &api})
                  .value()),
        state(*built.model, *built.optimizer, job),
        resident(state, *built.kernels, faults) {}

  void Train(float value) {
    const std::vector<float> trained(state.parameters.size(), value);
    built.kernels->memory().Upload(resident.parameters().data(), trained.data(),
                                   trained.size() * sizeof(float));
    resident.MarkChanged();
    ++state.position.step;
  }
  size_t kept_bytes() const {
    return (1 + state.optimizer.slots.size()) * state.parameters.size() *
           sizeof(float);
  }

  JobSpec job;
  JobModel built;
  TrainState state;
  NoFaults faults;
  ResidentState resident;
};

TEST(DeviceSaveTest, CopyIsOfItsStepAndFetchesNothingElse) {
  KeptState kept(CountingDevice());
  kept.Train(0.5f);
  const Digest then = kept.resident.NewestDigest().value();
  moves = {};
  StateCopy copy;
  ASSERT_TRUE(copy.Take(kept.resident, kept.state.TensorsOf({})).ok());
  kept.Train(0.75f);
  ASSERT_TRUE(copy.AwaitArrival().ok());
  EXPECT_EQ(StateDigest(copy.tensors()), then);
  EXPECT_EQ(moves.fetched, kept.kept_bytes());
  EXPECT_LT(moves.downloaded, kept.kept_bytes() / 20) << "digests alone";
  EXPECT_NE(kept.state.parameters[0], 0.5f) << "the state was not brought here";
  ASSERT_TRUE(kept.resident.SyncToHost().ok());
  EXPECT_EQ(kept.state.parameters[0], 0.75f);
}

TEST(DeviceSaveTest, StateNewestInHostMemory_IsCopiedOnTheHost) {
  KeptState kept(CountingDevice());
  static_cast<void>(kept.resident.parameters());
  const Digest then = kept.state.ComputeDigest();
  StateCopy copy;
  ASSERT_TRUE(copy.Take(kept.resident, kept.state.TensorsOf({})).ok());
  kept.Train(0.75f);
  ASSERT_TRUE(copy.AwaitArrival().ok());
  EXPECT_EQ(StateDigest(copy.tensors()), then);
  EXPECT_EQ(moves.fetched, 0u);
}

TEST(DeviceSaveTest, WithoutRoomOnTheDeviceTheStateIsBroughtHereFirst) {
  KeptState kept(CountingDevice());
  moves.has_room = false;
  kept.Train(0.5f);
  const Digest then = kept.resident.NewestDigest().value();
  StateCopy copy;
  ASSERT_TRUE(copy.Take(kept.resident, kept.state.TensorsOf({})).ok());
  EXPECT_GE(moves.downloaded, kept.kept_bytes());
  kept.Train(0.75f);
  ASSERT_TRUE(copy.AwaitArrival().ok());
  EXPECT_EQ(StateDigest(copy.tensors()), then);
  EXPECT_TRUE(kept.built.kernels->status().ok());
  // Once there is free memory again, the copy uses it.
  moves.has_room = true;
  ASSERT_TRUE(copy.Take(kept.resident, kept.state.TensorsOf({})).ok());
  EXPECT_EQ(moves.fetched, kept.kept_bytes());
}

TEST(DeviceSaveTest, RoomIsMadeOnceForAnyNumberOfCopies) {
  static int made = 0;
  static const gpu::DeviceApi api = [] {
    gpu::DeviceApi table = gpu::EmulatedDevice();
    table.allocate_if_room = [](gpu::Device* device, size_t bytes) {
      ++made;
      return gpu::EmulatedDevice().allocate_if_room(device, bytes);
    };
    return table;
  }();
  KeptState kept(api);
  StateCopy copy;
  for (int i = 0; i < 5; ++i) {
    kept.Train(static_cast<float>(i));
    ASSERT_TRUE(copy.Take(kept.resident, kept.state.TensorsOf({})).ok());
    ASSERT_TRUE(copy.AwaitArrival().ok());
  }
  EXPECT_EQ(made, 1);
}

// A save may be the first operation of a generation, before it trains.
TEST(DeviceSaveTest, CopyIsPinnedThoughTheFirstOneWasOfNoDevices) {
  static int pinned = 0;
  static const gpu::DeviceApi api = [] {
    gpu::DeviceApi table = gpu::EmulatedDevice();
    table.pin = [](gpu::Device*, void*, size_t) { ++pinned; };
    return table;
  }();
  KeptState kept(api);
  StateCopy copy;
  ASSERT_TRUE(copy.Take(kept.resident, kept.state.TensorsOf({})).ok());
  EXPECT_EQ(pinned, 0);
  kept.Train(0.5f);  // pins the arrays of the state
  pinned = 0;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(copy.Take(kept.resident, kept.state.TensorsOf({})).ok());
    ASSERT_TRUE(copy.AwaitArrival().ok());
  }
  EXPECT_EQ(pinned, 1);
}

TEST(DeviceSaveTest, AsynchronousSavesOfADeviceChangeNoBits) {
  const std::string golden = UndisturbedDigest(SmallRun());
  for (const int workers : {1, 2}) {
    for (const int digest_every : {0, 1}) {
      TrainOptions options = AsyncOnDevice();
      options.digest_every = digest_every;
      TrainingFixture fixture;
      fixture.ComputeOn(CountingDevice());
      const AttemptResult outcome = fixture.Run(workers, options);
      ASSERT_TRUE(outcome.AllExitedWith(WorkerExit::kDone))
          << outcome.reasons[0];
      EXPECT_EQ(outcome.result->digest, golden);
      EXPECT_THAT(outcome.StepsOf(EventKind::kSaveAcknowledged),
                  ElementsAre(5, 10, 15, 20, 24));
      EXPECT_GT(moves.fetched, 0u);
    }
  }
}

TEST(DeviceSaveTest, ZeroCopy_IsReplacedByACopy_AndReported) {
  TrainOptions options = AsyncOnDevice();
  options.checkpoint.mode = SaveMode::kZeroCopy;
  TrainingFixture fixture;
  fixture.ComputeOn(CountingDevice());
  const AttemptResult outcome = fixture.Run(1, options);
  ASSERT_TRUE(outcome.AllExitedWith(WorkerExit::kDone)) << outcome.reasons[0];
  EXPECT_EQ(outcome.result->digest, UndisturbedDigest(SmallRun()));
  EXPECT_THAT(outcome.StepsOf(EventKind::kSaveAcknowledged),
              ElementsAre(5, 10, 15, 20, 24));
  EXPECT_GT(moves.fetched, 0u);
  EXPECT_THAT(outcome.lines,
              ::testing::Contains(HasSubstr(
                  "bytes (zero-copy needs the state in host memory)")));
}

TEST(DeviceSaveTest, NextIncarnationResumesFromTheFetchedState) {
  TrainOptions options = AsyncOnDevice();
  options.horizon.stop_at_step = 12;
  options.checkpoint.at_notice = OnPreemption::kExit;
  TrainingFixture fixture;
  fixture.ComputeOn(GuardedDevice());
  ASSERT_TRUE(fixture.Run(2, options).AllExitedWith(WorkerExit::kStopped));
  const AttemptResult next = fixture.Run(1, SmallRun());
  ASSERT_TRUE(next.AllExitedWith(WorkerExit::kDone)) << next.reasons[0];
  EXPECT_GE(next.result->resumed_from, 10u);
  EXPECT_EQ(next.result->digest, UndisturbedDigest(SmallRun()));
}

// The copy of the second save fails.
TEST(DeviceSaveTest, FailedCopyFailsItsSaveOnly) {
  static int awaited = 0;
  static const gpu::DeviceApi api = [] {
    gpu::DeviceApi table = GuardedDevice();
    table.await_fetch = [](gpu::Device* device, gpu::DeviceText* why) {
      const bool came = GuardedDevice().await_fetch(device, why);
      if (++awaited != 2) return came;
      std::snprintf(why->text, sizeof why->text, "the copy was lost");
      return false;
    };
    return table;
  }();
  awaited = 0;
  TrainingFixture fixture;
  fixture.ComputeOn(api);
  const AttemptResult outcome = fixture.Run(1, AsyncOnDevice());
  ASSERT_TRUE(outcome.AllExitedWith(WorkerExit::kDone)) << outcome.reasons[0];
  EXPECT_EQ(outcome.result->digest, UndisturbedDigest(SmallRun()));
  EXPECT_THAT(outcome.StepsOf(EventKind::kSaveFailed), ElementsAre(10));
  EXPECT_THAT(outcome.Of(EventKind::kSaveFailed)[0].detail,
              HasSubstr("emulated device: the copy was lost"));
  EXPECT_THAT(outcome.StepsOf(EventKind::kSaveAcknowledged),
              ElementsAre(5, 15, 20, 24));
}

// Damages one fetched byte of a run's second save.
TEST(DeviceSaveTest, DamagedCopy_IsNotCommitted) {
  static int fetched = 0;
  static char* newest = nullptr;
  static const gpu::DeviceApi api = [] {
    gpu::DeviceApi table = GuardedDevice();
    table.fetch = [](gpu::Device* device, void* to, const void* from,
                     size_t bytes) {
      ++fetched;
      newest = static_cast<char*>(to);
      GuardedDevice().fetch(device, to, from, bytes);
    };
    table.await_fetch = [](gpu::Device* device, gpu::DeviceText* why) {
      const bool came = GuardedDevice().await_fetch(device, why);
      if (fetched == 2) newest[5] ^= 1;
      return came;
    };
    return table;
  }();
  fetched = 0;
  TrainingFixture fixture;
  fixture.ComputeOn(api);
  const AttemptResult outcome = fixture.Run(1, AsyncOnDevice());
  ASSERT_TRUE(outcome.AllExitedWith(WorkerExit::kDone)) << outcome.reasons[0];
  EXPECT_THAT(outcome.StepsOf(EventKind::kSaveFailed), ElementsAre(10));
  EXPECT_THAT(outcome.Of(EventKind::kSaveFailed)[0].detail,
              HasSubstr("is not what the device had"));
  EXPECT_THAT(outcome.StepsOf(EventKind::kSaveAcknowledged),
              ElementsAre(5, 15, 20, 24));
  EXPECT_EQ(outcome.result->digest, UndisturbedDigest(SmallRun()));
}

}  // namespace
}  // namespace gauntlet
