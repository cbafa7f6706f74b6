#include "engine/train/loop/boundary_schedule.h"

#include <cstdint>

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

constexpr uint64_t kStepsPerEpoch = 5;
constexpr uint64_t kBatch = 4;

JobSpec JobOfFiveSteps() {
  JobSpec job;
  job.replicas = 1;
  job.batch = kBatch;
  return job;
}

// Two epochs of five steps, in executions of three steps.
class BoundaryScheduleTest : public testing::Test {
 protected:
  BoundaryScheduleTest() {
    options_.horizon.epochs = 2;
    options_.steps_per_execution = 3;
  }

  // Sets the position to the end of the step.
  BoundarySchedule& AfterStep(uint64_t step) {
    const uint64_t in_epoch = (step - 1) % kStepsPerEpoch + 1;
    const Phase phase =
        in_epoch == kStepsPerEpoch ? Phase::kEvaluationDue : Phase::kInEpoch;
    position_ = {.step = step,
                 .epoch = (step - 1) / kStepsPerEpoch,
                 .sample = in_epoch * kBatch,
                 .phase = static_cast<uint64_t>(phase)};
    return schedule_;
  }

  // Sets the position to the end of the epoch, counted from 1.
  BoundarySchedule& AfterEpoch(uint64_t epoch) {
    position_ = {.step = epoch * kStepsPerEpoch, .epoch = epoch};
    return schedule_;
  }

  TrainOptions options_;
  Position position_;
  const SampleSchedule sample_schedule_ =
      SampleSchedule::Make(JobOfFiveSteps(),
                           {.samples = kStepsPerEpoch * kBatch})
          .value();
  BoundarySchedule schedule_{options_, position_, sample_schedule_};
};

TEST_F(BoundaryScheduleTest, PositionDeterminesTheBoundary) {
  EXPECT_EQ(AfterStep(2).AtPosition(), LoopBoundary::kStep);
  EXPECT_EQ(AfterStep(5).AtPosition(), LoopBoundary::kStep);
  position_.phase = static_cast<uint64_t>(Phase::kCallbacksDue);
  EXPECT_EQ(schedule_.AtPosition(), LoopBoundary::kEvaluation);
  EXPECT_EQ(AfterEpoch(1).AtPosition(), LoopBoundary::kEpoch);
}

TEST_F(BoundaryScheduleTest, EpochAndHorizonEndExecutions) {
  EXPECT_FALSE(AfterStep(2).ExecutionEnds());
  EXPECT_TRUE(AfterStep(3).ExecutionEnds());
  EXPECT_FALSE(AfterStep(4).ExecutionEnds());
  EXPECT_TRUE(AfterStep(5).ExecutionEnds());
  EXPECT_TRUE(AfterEpoch(1).ExecutionEnds());
  options_.horizon.max_steps = 4;
  EXPECT_TRUE(AfterStep(4).ExecutionEnds());
}

TEST_F(BoundaryScheduleTest, LastExecutionOfAnEpochMayBeShorter) {
  EXPECT_FALSE(AfterStep(2).ExecutionEndsEpoch());
  EXPECT_TRUE(AfterStep(3).ExecutionEndsEpoch());
  EXPECT_FALSE(AfterEpoch(1).ExecutionEndsEpoch());
}

TEST_F(BoundaryScheduleTest, HorizonIsReachedAfterTheLastEpochOrStep) {
  EXPECT_FALSE(AfterStep(10).AtHorizon()) << "the evaluation is left";
  EXPECT_TRUE(AfterStep(10).LastStepDone());
  EXPECT_TRUE(AfterEpoch(2).AtHorizon());
  EXPECT_FALSE(AfterStep(7).LastStepDone());
  options_.horizon.max_steps = 7;
  EXPECT_TRUE(AfterStep(7).AtHorizon());
  options_.horizon.max_steps = 5;
  EXPECT_FALSE(AfterStep(5).AtHorizon()) << "the evaluation is left";
  EXPECT_TRUE(AfterStep(5).LastStepDone());
}

TEST_F(BoundaryScheduleTest, SavesAreDueAtTheirKindOfBoundary) {
  options_.checkpoint.trigger = {.unit = SaveUnit::kSteps, .every = 2};
  EXPECT_TRUE(AfterStep(4).SaveDue(LoopBoundary::kStep));
  EXPECT_FALSE(AfterStep(4).SaveDue(LoopBoundary::kEvaluation));
  EXPECT_FALSE(AfterStep(5).SaveDue(LoopBoundary::kStep));
  options_.checkpoint.trigger = {.unit = SaveUnit::kEpochs, .every = 2};
  EXPECT_TRUE(AfterEpoch(2).SaveDue(LoopBoundary::kEpoch));
  EXPECT_FALSE(AfterEpoch(1).SaveDue(LoopBoundary::kEpoch));
  EXPECT_FALSE(AfterEpoch(2).SaveDue(LoopBoundary::kStep));
  options_.checkpoint.trigger = {.unit = SaveUnit::kSeconds, .every = 1};
  EXPECT_FALSE(AfterEpoch(2).SaveDue(LoopBoundary::kEpoch));
}

TEST_F(BoundaryScheduleTest, SaveWasDueOnlyWithinTheExecution) {
  options_.checkpoint.trigger = {.unit = SaveUnit::kSteps, .every = 4};
  EXPECT_FALSE(AfterStep(3).SaveWasDueInExecution());
  EXPECT_TRUE(AfterStep(4).SaveWasDueInExecution());
  EXPECT_TRUE(AfterStep(5).SaveWasDueInExecution());
  // The execution of step 6 began with epoch 1, not with step 4.
  EXPECT_FALSE(AfterStep(6).SaveWasDueInExecution());
  EXPECT_TRUE(AfterStep(9).SaveWasDueInExecution());
  EXPECT_FALSE(AfterEpoch(1).SaveWasDueInExecution());
}

TEST_F(BoundaryScheduleTest, StopIsDueAtItsStepAlone) {
  options_.horizon.stop_at_step = 5;
  EXPECT_FALSE(AfterStep(4).StopDue(LoopBoundary::kStep));
  EXPECT_TRUE(AfterStep(5).StopDue(LoopBoundary::kStep));
  EXPECT_FALSE(AfterStep(6).StopDue(LoopBoundary::kStep));
  EXPECT_FALSE(AfterEpoch(1).StopDue(LoopBoundary::kEpoch));
  options_.horizon.stop_at_step.reset();
  EXPECT_FALSE(AfterStep(5).StopDue(LoopBoundary::kStep));
}

TEST_F(BoundaryScheduleTest, StopStepCountsWithinItsExecution) {
  options_.horizon.stop_at_step = 4;
  EXPECT_FALSE(AfterStep(3).StopWasDueInExecution());
  EXPECT_TRUE(AfterStep(4).StopWasDueInExecution());
  EXPECT_TRUE(AfterStep(5).StopWasDueInExecution());
  EXPECT_FALSE(AfterStep(6).StopWasDueInExecution());
  EXPECT_FALSE(AfterEpoch(1).StopWasDueInExecution());
  options_.horizon.stop_at_step.reset();
  EXPECT_FALSE(AfterStep(4).StopWasDueInExecution());
}

}  // namespace
}  // namespace gauntlet
