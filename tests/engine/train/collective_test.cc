// Gradients that are summed from device to device: the emulated devices', over
// the simulated network.
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "engine/cluster/emulated_collective.h"
#include "tests/engine/train/guarded_device.h"
#include "tests/engine/train/training_fixture.h"

namespace gauntlet {
namespace {

using ::testing::HasSubstr;

TrainOptions ByDevices(TrainOptions options) {
  options.kernels.device = DeviceKind::kEmulated;
  options.cluster.collective = CollectiveChoice::kNccl;
  return options;
}

// Floats of a chunk are as few as that.
gpu::CollectiveApi InChunksOf(size_t floats) {
  gpu::CollectiveApi api = EmulatedCollective();
  api.chunk_floats = floats;
  return api;
}

LifeOutcome RunByDevices(int workers, const TrainOptions& options,
                         const gpu::CollectiveApi& api) {
  TrainingFixture fixture;
  fixture.ComputeOn(GuardedDevice());
  fixture.ExchangeBy(api);
  return fixture.Run(workers, ByDevices(options));
}

std::vector<std::string> DigestsOf(const LifeOutcome& outcome) {
  std::vector<std::string> digests;
  for (const LogEvent& event : outcome.Of(EventKind::kStep)) {
    digests.push_back(
        fmt::format("step {}: {}", event.step, event.digest->ToString()));
  }
  return digests;
}

TEST(CollectiveTest, EveryStateIsTheRings) {
  const LifeOutcome ring = TrainingFixture().Run(1, SmallRun());
  ASSERT_EQ(DigestsOf(ring).size(), kSteps);
  for (const int workers : {1, 2, 3, 4}) {
    const LifeOutcome devices =
        RunByDevices(workers, SmallRun(), InChunksOf(100));
    ASSERT_TRUE(devices.AllExitedWith(WorkerExit::kDone)) << devices.reasons[0];
    EXPECT_EQ(DigestsOf(devices), DigestsOf(ring)) << workers;
    EXPECT_EQ(devices.result->digest, ring.result->digest) << workers;
  }
}

RC_GTEST_PROP(CollectiveProperty, EndsAsTheRingForAnySplitAndChunks, ()) {
  TrainOptions options = SmallRun();
  options.job.replicas = *rc::gen::inRange(1, 7);
  options.horizon.epochs = 1;
  options.digest_every = 0;
  const int workers = *rc::gen::inRange(1, options.job.replicas + 1);
  const auto floats = static_cast<size_t>(*rc::gen::inRange(1, 600));
  const LifeOutcome devices =
      RunByDevices(workers, options, InChunksOf(floats));
  RC_ASSERT(devices.AllExitedWith(WorkerExit::kDone));
  RC_ASSERT(devices.result->digest == UndisturbedDigest(options));
}

}  // namespace
}  // namespace gauntlet
