// Several steps as one execution: fewer checks for due work, the same bits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/train/training_fixture.h"

namespace gauntlet {
namespace {

using ::testing::ElementsAre;

// Each epoch of six steps ends an execution of four early.
TrainOptions Executing(uint64_t steps) {
  TrainOptions options = SmallRun();
  options.steps_per_execution = steps;
  return options;
}

TEST(ExecutionTest, ItsLengthChangesNoBits) {
  const std::string expected = UndisturbedDigest(SmallRun());
  for (const uint64_t steps : {2, 4, 5, 100}) {
    TrainingFixture fixture;
    const AttemptResult incarnation = fixture.Run(2, Executing(steps));
    ASSERT_TRUE(incarnation.result) << incarnation.reasons[0];
    EXPECT_EQ(incarnation.result->digest, expected) << steps;
    EXPECT_EQ(incarnation.Of(EventKind::kStep).size(), kSteps) << steps;
  }
}

TEST(ExecutionTest, SavesThatFallDueWithinItAreMadeAtItsEnd) {
  TrainingFixture fixture;
  const AttemptResult incarnation = fixture.Run(2, Executing(4));
  EXPECT_THAT(incarnation.StepsOf(EventKind::kSaveAcknowledged),
              ElementsAre(6, 12, 16, 20, 24));
}

TEST(ExecutionTest, StopWaitsForItsEndAndAnyLengthContinuesFromThere) {
  TrainingFixture fixture;
  TrainOptions options = Executing(4);
  options.horizon.stop_at_step = 13;
  const AttemptResult stopped = fixture.Run(2, options);
  EXPECT_TRUE(stopped.AllExitedWith(WorkerExit::kStopped));
  EXPECT_EQ(stopped.Of(EventKind::kStep).size(), 16u);
  const AttemptResult resumed = fixture.Run(1, Executing(3));
  ASSERT_TRUE(resumed.result) << resumed.reasons[0];
  EXPECT_EQ(resumed.result->resumed_from, 16u);
  EXPECT_EQ(resumed.result->digest, UndisturbedDigest(SmallRun()));
}

TEST(ExecutionTest, StepToStopAtIsPast_IfTheRunResumesFromIt) {
  TrainingFixture fixture;
  TrainOptions options = Executing(1);
  options.horizon.stop_at_step = 13;
  ASSERT_TRUE(fixture.Run(2, options).AllExitedWith(WorkerExit::kStopped));
  options.steps_per_execution = 4;
  const AttemptResult resumed = fixture.Run(2, options);
  ASSERT_TRUE(resumed.result) << resumed.reasons[0];
  EXPECT_EQ(resumed.result->resumed_from, 13u);
  EXPECT_EQ(resumed.result->status, "done");
}

TEST(ExecutionTest, HorizonOfStepsEndsItEarly) {
  TrainingFixture fixture;
  TrainOptions options = Executing(4);
  options.horizon.max_steps = 9;
  EXPECT_EQ(fixture.Run(1, options).Of(EventKind::kStep).size(), 9u);
}

}  // namespace
}  // namespace gauntlet
