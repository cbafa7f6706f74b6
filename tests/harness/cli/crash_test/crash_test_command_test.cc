#include "harness/cli/crash_test/crash_test_command.h"

#include <string>
#include <string_view>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/cli/crash_test/crash_test_text.h"

namespace gauntlet {
namespace {

using testing::HasSubstr;
using testing::Not;

CrashTestResult WithVerdict(RecoveryVerdict verdict) {
  CrashTestResult result;
  result.trials.push_back({.id = "kill-1", .point = "killed after a write"});
  result.verdicts.push_back({.verdict = verdict});
  if (IsFinding(verdict)) {
    result.findings.push_back(
        {.verdict = verdict, .title = "fails at model", .trials = {0}});
  }
  return result;
}

CrashTestResult Interrupted(RecoveryVerdict verdict) {
  CrashTestResult result = WithVerdict(verdict);
  result.trials_end = TrialsEnd::kInterrupted;
  return result;
}

TEST(CrashTestCommandTest, ExitCodeOfTheInterruptComesFirst) {
  using enum RecoveryVerdict;
  EXPECT_EQ(CrashTestExit(WithVerdict(kRecovered)), ExitCode::kOk);
  EXPECT_EQ(CrashTestExit(WithVerdict(kFails)), ExitCode::kViolated);
  EXPECT_EQ(CrashTestExit(WithVerdict(kResumePointUnknown)),
            ExitCode::kNoVerdict);
  for (const RecoveryVerdict any : {kRecovered, kFails, kResumePointUnknown})
    EXPECT_EQ(CrashTestExit(Interrupted(any)), ExitCode::kInterrupted);
}

TEST(CrashTestCommandTest, SummaryOfAnInterruptedTestListsTheFindingsSoFar) {
  using enum RecoveryVerdict;
  const std::string found = CrashTestResultToText(Interrupted(kFails), "test");
  EXPECT_THAT(found, HasSubstr("\n1. fails at model\n"));
  EXPECT_THAT(found, HasSubstr("interrupted: these are the findings so far"));
  EXPECT_THAT(CrashTestResultToText(Interrupted(kRecovered), "test"),
              HasSubstr("\ninterrupted: more crash states are left\n"));
  EXPECT_THAT(CrashTestResultToText(WithVerdict(kFails), "test"),
              Not(HasSubstr("interrupted")));
}

TEST(CrashTestCommandTest, Summary_GivesTheReasonForUntriedStates) {
  const std::pair<TrialsEnd, std::string_view> cases[] = {
      {TrialsEnd::kLimit, "left: time, or --trials, ran out\n"},
      {TrialsEnd::kInterrupted, "\ninterrupted: more crash states are left\n"},
      {TrialsEnd::kError, "left: an error ended the test\n"}};
  CrashTestResult result = WithVerdict(RecoveryVerdict::kRecovered);
  EXPECT_THAT(CrashTestResultToText(result, "test"), Not(HasSubstr("left")));
  for (const auto& [end, text] : cases) {
    result.trials_end = end;
    EXPECT_THAT(CrashTestResultToText(result, "test"), HasSubstr(text));
  }
}

TEST(CrashTestCommandTest, InterruptBeforeTrials_NamesTheStage) {
  EXPECT_EQ(
      InterruptBeforeTrialsText("recording"),
      "interrupted during the stage \"recording\": no crash was tried, so "
      "no files are kept");
}

}  // namespace
}  // namespace gauntlet
