#include "engine/real/process/worker_environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gauntlet {
namespace {

using testing::ElementsAre;

TEST(WorkerEnvironmentTest, DropsThePlaceInAnotherCluster) {
  EXPECT_THAT(
      WorkerEnvironment(
          {"PATH=/bin", "TF_CONFIG={}", "RANK=1", "WORLD_SIZE=2",
           "LOCAL_RANK=0", "MASTER_ADDR=a", "MASTER_PORT=1", "PET_NNODES=1",
           "SLURM_PROCID=3", "OMPI_COMM_WORLD_RANK=1", "PMIX_RANK=1",
           "JOB_COMPLETION_INDEX=4", "TORCHELASTIC_RUN_ID=x", "HOME=/root"},
          {}),
      ElementsAre("PATH=/bin", "HOME=/root"));
}

TEST(WorkerEnvironmentTest, KeepsSimilarNames) {
  EXPECT_THAT(WorkerEnvironment({"RANKING=1", "MY_RANK=2", "A=RANK=3"}, {}),
              ElementsAre("RANKING=1", "MY_RANK=2", "A=RANK=3"));
}

TEST(WorkerEnvironmentTest, AddedVariablesReplaceEarlierOnes) {
  EXPECT_THAT(WorkerEnvironment({"A=1", "B=2", "TF_CONFIG=old"},
                                {"B=3", "TF_CONFIG=new"}),
              ElementsAre("A=1", "B=3", "TF_CONFIG=new"));
}

}  // namespace
}  // namespace gauntlet
