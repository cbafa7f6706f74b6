#include "engine/train/trainer.h"

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

TEST(EpochShapeTest, RowsAndStepsFollowTheRemainder) {
  struct Row {
    uint64_t rows;
    Remainder remainder;
    uint64_t used;
    uint64_t steps;
  };
  for (const Row& row :
       {Row{96, Remainder::kDrop, 96, 6}, Row{96, Remainder::kKeep, 96, 6},
        Row{97, Remainder::kDrop, 96, 6}, Row{97, Remainder::kKeep, 97, 7},
        Row{111, Remainder::kDrop, 96, 6}, Row{15, Remainder::kDrop, 0, 0},
        Row{15, Remainder::kKeep, 15, 1}, Row{0, Remainder::kKeep, 0, 0}}) {
    JobSpec job;
    job.replicas = 4;
    job.batch = 4;
    job.remainder = row.remainder;
    EXPECT_EQ(RowsPerEpoch(job, row.rows), row.used) << row.rows;
    EXPECT_EQ(StepsPerEpoch(job, row.rows), row.steps) << row.rows;
  }
}

}  // namespace
}  // namespace gauntlet
