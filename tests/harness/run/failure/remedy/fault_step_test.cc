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

// The step of a fault in a save is that of the training at that time.
TEST(FaultStepTest, FaultWithoutAStepOfItsOwn_IsToFireElsewhere) {
  for (const RecordFault& fault :
       {RecordFault{.id = "c"},
        RecordFault{.id = "c", .step = 6, .in_save = true}}) {
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
