#include "engine/app/ckpt/trained_checkpoint.h"

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

TEST(TrainedCheckpointTest, OneOfSomeVariablesIsNoModel) {
  JobSpec job = PresetJob("tiny").value();
  EXPECT_TRUE(WholeJobOf(JobToJson(job, {})).ok());
  job.saved = {"dense0/bias", "dense0/kernel"};
  EXPECT_EQ(WholeJobOf(JobToJson(job, {})).status().message(),
            "expected a checkpoint of the whole model, found only dense0/bias, "
            "dense0/kernel");
}

}  // namespace
}  // namespace gauntlet
