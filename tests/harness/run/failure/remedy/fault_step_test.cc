// Advice that moves a fault to other steps.
#include "harness/run/failure/remedy/fault_step.h"

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

TEST(FaultStepTest, FaultWithAStep_GetsAnotherOne) {
  const RecordFault fault = {.id = "c", .step = 6};
  EXPECT_EQ(StepAdvice(fault, {.first = 9, .last = 12}),
            "set the step of fault c (6) to a value from 9 to 12");
  EXPECT_EQ(StepAdvice(fault, {.first = 9, .last = 9}),
            "set the step of fault c (6) to 9");
  EXPECT_EQ(StepAdvice(fault, {.first = 9}),
            "set the step of fault c (6) to 9 or later");
  EXPECT_EQ(StepAdvice(fault, {.last = 4}),
            "set the step of fault c (6) to 4 or earlier");
}

TEST(FaultStepTest, OnlyAFaultAtAPointOfEachStepHasItsOwnStep) {
  for (const char* point : {"", "step.begin", "data.next", "comm.send"}) {
    EXPECT_TRUE(HasOwnStep({.id = "c", .point = point, .step = 6})) << point;
  }
  for (const char* point :
       {"epoch.begin", "epoch.end", "eval.begin", "cluster.join"}) {
    EXPECT_FALSE(HasOwnStep({.id = "c", .point = point, .step = 6})) << point;
  }
}

// The step of a fault in a save is that of the training at that time. The first
// step of an epoch is the only one with an epoch.begin.
TEST(FaultStepTest, FaultWithoutAStepOfItsOwn_IsToFireElsewhere) {
  for (const RecordFault& fault :
       {RecordFault{.id = "c"},
        RecordFault{.id = "c", .step = 6, .in_save = true},
        RecordFault{.id = "c", .point = "epoch.begin", .step = 7}}) {
    EXPECT_EQ(StepAdvice(fault, {.first = 9, .last = 12}),
              "let fault c fire in a step from 9 to 12");
    EXPECT_EQ(StepAdvice(fault, {.first = 9, .last = 9}),
              "let fault c fire in step 9");
    EXPECT_EQ(StepAdvice(fault, {.last = 4}),
              "let fault c fire in step 4 or earlier");
  }
}

}  // namespace
}  // namespace gauntlet
