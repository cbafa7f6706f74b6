#include <gtest/gtest.h>

#include "engine/job/job.h"

namespace gauntlet {
namespace {

TEST(PresetsTest, EveryPresetIsAValidJobWithOneReplica) {
  ASSERT_FALSE(AllPresets().empty());
  for (const PresetInfo& preset : AllPresets()) {
    const Result<JobSpec> job = PresetJob(preset.name);
    ASSERT_TRUE(job.ok()) << preset.name;
    EXPECT_TRUE(Validate(*job).ok()) << Validate(*job).ToString();
    EXPECT_EQ(job->replicas, 1) << preset.name;
    EXPECT_EQ(job->model.layers.back().units, 10) << preset.name;
  }
}

TEST(PresetsTest, AnUnknownNameIsRefusedWithTheKnownOnes) {
  const Result<JobSpec> job = PresetJob("tinny");
  ASSERT_EQ(job.status().code(), Code::kInvalidArgument);
  EXPECT_EQ(job.status().message(),
            "job: expected one of linear, mlp, dnn, tiny, found 'tinny'");
}

TEST(PresetsTest, TinyTakesSixStepsAnEpochWithFourReplicas) {
  const JobSpec job = PresetJob("tiny").value();
  EXPECT_EQ(job.data.samples, 6 * 4 * job.batch);
  EXPECT_EQ(job.data.side, 7);
}

TEST(PresetsTest, DnnIsTheDocumentsClassifier) {
  const JobSpec job = PresetJob("dnn").value();
  std::vector<int> units;
  for (const LayerSpec& layer : job.model.layers) {
    if (layer.kind == LayerKind::kDense) units.push_back(layer.units);
    if (layer.kind == LayerKind::kDropout) {
      EXPECT_EQ(layer.rate, 0.2f);
    }
  }
  EXPECT_EQ(units, (std::vector<int>{256, 32, 10}));
  EXPECT_EQ(job.batch, 50);
}

}  // namespace
}  // namespace gauntlet
