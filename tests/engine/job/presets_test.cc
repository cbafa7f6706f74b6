#include <gtest/gtest.h>

#include "engine/job/job.h"
#include "engine/job/preset_run.h"

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

TEST(PresetsTest, UnknownNameIsRefusedWithTheKnownOnes) {
  const Result<JobSpec> job = PresetJob("tinny");
  ASSERT_EQ(job.status().code(), Code::kInvalidArgument);
  EXPECT_EQ(job.status().message(),
            "job: expected one of linear, mlp, dnn, cnn, cnn-short, "
            "tiny, found 'tinny'");
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

TEST(PresetsTest, CnnShortIsTheDocumentsImageClassifier) {
  const JobSpec job = PresetJob("cnn-short").value();
  EXPECT_EQ(job.model.layers[0].kind, LayerKind::kConv2D);
  EXPECT_EQ(job.model.layers[0].filters, 32);
  EXPECT_EQ(job.model.layers[0].kernel, 3);
  EXPECT_EQ(job.model.layers[3].units, 128);
  EXPECT_EQ(job.optimizer.kind, OptimizerKind::kSgd);
  EXPECT_EQ(job.optimizer.learning_rate, 0.001f);
  EXPECT_EQ(job.optimizer.momentum, 0.0f);
  EXPECT_EQ(job.batch, 64);
}

TEST(PresetsTest, CnnDiffersFromCnnShortInItsOptimizerAlone) {
  JobSpec job = PresetJob("cnn").value();
  const JobSpec tutorial = PresetJob("cnn-short").value();
  EXPECT_NE(JobToJson(job, {}), JobToJson(tutorial, {}));
  job.optimizer = tutorial.optimizer;
  EXPECT_EQ(JobToJson(job, {}), JobToJson(tutorial, {}));
}

TEST(PresetsTest, EveryPresetHasARun) {
  for (const PresetInfo& preset : AllPresets()) {
    const PresetRun& run = PresetRunOf(preset.name);
    EXPECT_EQ(run.preset, preset.name);
    EXPECT_GE(run.epochs, 1u) << preset.name;
    EXPECT_GE(run.accuracy_percent, 20) << preset.name;
    EXPECT_GE(run.seconds, 1) << preset.name;
  }
}

}  // namespace
}  // namespace gauntlet
