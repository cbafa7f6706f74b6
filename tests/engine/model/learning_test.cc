#include <gtest/gtest.h>

#include "engine/job/preset_run.h"
#include "tests/engine/model/training_loop.h"

namespace gauntlet {
namespace {

double AccuracyAfter(const JobSpec& job, int epochs) {
  const auto kernels = MakeKernels(Isa::kAuto, 1);
  TrainingLoop loop(job, *kernels);
  for (int i = 0; i < epochs; ++i) loop.Epoch();
  return loop.Accuracy(loop.data().validation);
}

// The digits are hard enough to tell models apart, so that an accuracy is
// meaningful.
TEST(LearningTest, MlpReadsDigitsClearlyBetterThanALinearModel) {
  const double linear = AccuracyAfter(PresetJob("linear").value(), 10);
  const double mlp = AccuracyAfter(PresetJob("mlp").value(), 10);
  EXPECT_GT(linear, 0.80);
  EXPECT_LT(linear, 0.92);
  EXPECT_GT(mlp, linear + 0.04);
}

// Checks the epochs and the accuracy that `gauntlet list presets` prints. The
// other presets take longer.
TEST(LearningTest, EachPresetReachesItsAccuracyInItsEpochs) {
  for (const char* name : {"linear", "dnn", "tiny"}) {
    const PresetRun& run = PresetRunOf(name);
    const double accuracy =
        AccuracyAfter(PresetJob(name).value(), static_cast<int>(run.epochs));
    EXPECT_NEAR(accuracy * 100.0, run.accuracy_percent, 1.0) << name;
  }
}

// Trains four of the preset's ten epochs.
TEST(LearningTest, CnnReadsNineDigitsOfTenAfterFourEpochs) {
  EXPECT_GT(AccuracyAfter(PresetJob("cnn").value(), 4), 0.9);
}

TEST(LearningTest, TinyLearnsInTwentyEpochs) {
  EXPECT_GT(AccuracyAfter(PresetJob("tiny").value(), 20), 0.6);
}

TEST(LearningTest, TinyLearnsWithMeanSquaredErrorToo) {
  JobSpec job = PresetJob("tiny").value();
  job.model.loss = LossKind::kMeanSquaredError;
  EXPECT_GT(AccuracyAfter(job, 20), 0.6);
}

}  // namespace
}  // namespace gauntlet
