#include "harness/trainer/text/program_output.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gauntlet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(ProgramOutputTest, SummaryOfTorchrunIsNotTheLastLine) {
  const std::string output =
      "[rank0]: Traceback (most recent call last):\n"
      "[rank0]:   File \"train.py\", line 3\n"
      "[rank0]: ValueError: no mark\n"
      "W1127 torch/distributed: Sending process 8 closing signal SIGTERM\n"
      "torch.distributed.elastic.multiprocessing.errors.ChildFailedError:\n"
      "====\n";
  EXPECT_EQ(LastLine(output), "ValueError: no mark");
  EXPECT_THAT(LastLines(output, 2),
              ElementsAre("[rank0]:   File \"train.py\", line 3",
                          "[rank0]: ValueError: no mark"));
  EXPECT_EQ(LastLine("[rank0]: hello\nbye\n"), "bye");
}

TEST(ProgramOutputTest, LastLineIsNotBlankAndIsClean) {
  EXPECT_EQ(LastLine("one\ntwo\x1b[0m\n\n  \n"), "two?[0m");
  EXPECT_EQ(LastLine("progress 1\rprogress 2\r"), "progress 2");
  EXPECT_EQ(LastLine(""), "");
  EXPECT_EQ(LastLine(std::string(1000, 'a')).size(), 300U);
  EXPECT_THAT(LastLines("a\nb\nc\n", 2), ElementsAre("b", "c"));
}

TEST(ProgramOutputTest, DistinguishesExceptionsFromMessages) {
  EXPECT_TRUE(EndsInException(
      "Traceback (most recent call last):\n  File \"x\"\nValueError: bad\n"));
  EXPECT_TRUE(EndsInException("terminate called without an active exception"));
  EXPECT_FALSE(EndsInException("train.py: no usable checkpoint\n"));
}

TEST(StepPatternTest, TakesTheFirstMatch) {
  const auto pattern = StepPattern::Parse("resumed from step (\\d+)");
  ASSERT_TRUE(pattern.ok());
  EXPECT_EQ(pattern->Find("start\nresumed from step 20\nresumed from step 30"),
            20);
  EXPECT_EQ(pattern->Find("nothing"), std::nullopt);
  EXPECT_EQ(pattern->Find("resumed from step 99999999999999999999"),
            std::nullopt);
}

TEST(StepPatternTest, RefusesBadExpressions) {
  EXPECT_THAT(StepPattern::Parse("step (").status().message(),
              HasSubstr("expected a regular expression with one group"));
  EXPECT_EQ(StepPattern::Parse("step \\d+").status().message(),
            "expected an expression with one group, such as 'from step (\\d+)',"
            " found 0 groups");
}

}  // namespace
}  // namespace gauntlet
