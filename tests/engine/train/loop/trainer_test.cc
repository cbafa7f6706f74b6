#include "engine/train/loop/trainer.h"

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

TEST(ReplicasOfTest, BlocksAreContiguousAscendingAndEven) {
  for (int replicas = 1; replicas <= 17; ++replicas) {
    for (int size = 1; size <= replicas; ++size) {
      int next = 0;
      for (int rank = 0; rank < size; ++rank) {
        const ReplicaBlock block = ReplicasOf(replicas, rank, size);
        EXPECT_EQ(block.first, next);
        EXPECT_GE(block.count, replicas / size);
        EXPECT_LE(block.count, (replicas + size - 1) / size);
        next += block.count;
      }
      EXPECT_EQ(next, replicas) << size;
    }
  }
}

TEST(ReplicasOfDeathTest, MoreWorkersThanReplicasIsABug) {
  EXPECT_DEATH(ReplicasOf(3, 0, 4), "every worker hosts a replica");
}

TEST(EvaluatedSamplesTest, ValidationStepsAreOfAGlobalBatchEach) {
  JobSpec job;
  job.replicas = 4;
  job.batch = 4;
  EXPECT_EQ(EvaluatedSamples(job, 100), 100u);
  job.data.validation_steps = 2;
  EXPECT_EQ(EvaluatedSamples(job, 100), 32u);
  EXPECT_EQ(EvaluatedSamples(job, 20), 20u);
}

}  // namespace
}  // namespace gauntlet
