#include "harness/bench/checkpoint_trial.h"

#include <gtest/gtest.h>

#include "harness/bench/state_job.h"

namespace gauntlet {
namespace {

double StateBytesOf(const JobSpec& job) {
  double inputs = 28 * 28;
  double parameters = 0;
  for (const LayerSpec& layer : job.model.layers) {
    if (layer.kind != LayerKind::kDense) continue;
    parameters += (inputs + 1) * layer.units;
    inputs = layer.units;
  }
  return parameters * 12;
}

TEST(StateJob, HasWantedSize) {
  for (const uint64_t bytes : {kLeastStateBytes, uint64_t{1'000'000},
                               uint64_t{100'000'000}, kMostStateBytes}) {
    const JobSpec job = StateJob(bytes, 2);
    EXPECT_TRUE(Validate(job).ok()) << Validate(job).message();
    const double wanted = static_cast<double>(bytes);
    EXPECT_NEAR(StateBytesOf(job), wanted, wanted * 0.06);
    EXPECT_EQ(job.replicas, 2);
  }
}

TEST(CheckpointTrial, WithoutModeNothingIsSaved) {
  CheckpointConfig config = {.state_bytes = 1'000'000, .every = 7};
  EXPECT_EQ(OptionsOf(config, 100, "/trial").checkpoint.directory, "");
  config.mode = SaveMode::kAsync;
  const TrainOptions options = OptionsOf(config, 100, "/trial");
  EXPECT_EQ(options.checkpoint.directory, "/trial/ckpt");
  EXPECT_EQ(options.checkpoint.trigger.every, 7u);
  EXPECT_EQ(options.checkpoint.trigger.unit, SaveUnit::kSteps);
  EXPECT_EQ(options.checkpoint.mode, SaveMode::kAsync);
  EXPECT_EQ(options.horizon.max_steps, 100u);
}

}  // namespace
}  // namespace gauntlet
