#include "engine/train/state/state_copy.h"

#include <gtest/gtest.h>

#include "engine/train/loop/job_model.h"

namespace gauntlet {
namespace {

// A state of more than 4 MiB.
class StateCopyTest : public testing::Test {
 protected:
  static JobSpec Job() {
    JobSpec job = PresetJob("mlp").value();
    job.replicas = 1;
    job.model.layers = {{.kind = LayerKind::kFlatten},
                        {.kind = LayerKind::kDense, .units = 2000},
                        {.kind = LayerKind::kRelu},
                        {.kind = LayerKind::kDense, .units = 10}};
    return job;
  }

  const JobSpec job_ = Job();
  const JobModel built_ =
      BuildJobModel(job_, {.height = 28, .width = 28}, 10, {}).value();
  TrainState state_{*built_.model, *built_.optimizer, job_};
  const NoFaults faults_;
  ResidentState resident_{state_, *built_.kernels, faults_};
  StateCopy copy_;
};

TEST_F(StateCopyTest, FirstCopyUsesReservedMemory) {
  copy_.Reserve(state_, state_.View());
  const uint64_t reserved = copy_.capacity();
  EXPECT_GT(reserved, uint64_t{4} << 20);
  ASSERT_TRUE(copy_.Take(resident_, state_.View()).ok());
  EXPECT_EQ(copy_.capacity(), reserved);
  EXPECT_EQ(StateDigest(copy_.tensors()), state_.ComputeDigest());
}

TEST_F(StateCopyTest, BufferHasRoomForTheHistory) {
  ASSERT_TRUE(copy_.Take(resident_, state_.View()).ok());
  const uint64_t capacity = copy_.capacity();
  const uint64_t bytes = copy_.bytes();
  state_.history.loss.push_back(1.0f);
  ASSERT_TRUE(copy_.Take(resident_, state_.View()).ok());
  EXPECT_GT(copy_.bytes(), bytes);
  EXPECT_EQ(copy_.capacity(), capacity);
  EXPECT_EQ(StateDigest(copy_.tensors()), state_.ComputeDigest());
}

}  // namespace
}  // namespace gauntlet
