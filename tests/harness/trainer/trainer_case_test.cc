#include "harness/trainer/trainer_case.h"

#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gauntlet {
namespace {

using testing::HasSubstr;

TEST(TrainerCaseTest, Reason_ExplainsUntriedCrashes) {
  CrashTestResult result;
  EXPECT_EQ(VerdictOnTrainer(result).kind, VerdictKind::kPass);
  const std::pair<TrialsEnd, std::string> cases[] = {
      {TrialsEnd::kLimit,
       "more crash states are left: time, or --trials, ran out"},
      {TrialsEnd::kInterrupted, "interrupted: more crash states are left"},
      {TrialsEnd::kError,
       "more crash states are left: an error ended the test"}};
  for (const auto& [end, reason] : cases) {
    result.trials_end = end;
    const Verdict verdict = VerdictOnTrainer(result);
    EXPECT_EQ(verdict.kind, VerdictKind::kError) << reason;
    EXPECT_EQ(verdict.reason, reason);
  }
}

TEST(TrainerCaseTest, Advice_NamesTheReportAndTheScript) {
  CrashTestResult result;
  EXPECT_EQ(AdviceOnTrainer(result, "/c"),
            "/c/report.html lists each crash that was tried");
  result.findings.resize(1);
  EXPECT_EQ(AdviceOnTrainer(result, "/c"),
            "to repeat the first finding, run sh /c/findings/1/repro.sh; "
            "/c/report.html lists each crash that was tried");
}

TEST(TrainerCaseTest, MissingFileIsToBeWhereRelativePathsStart) {
  const std::string advice = AdviceOnMissingFile(
      InvalidArgument(
          "python3 train.py: expected a run that ends with 0, found "
          "exit code 2: can't open file '/jobs/train.py': [Errno 2] "
          "No such file or directory"),
      "/jobs");
  EXPECT_THAT(advice, HasSubstr("relative paths start in /jobs, where gauntlet "
                                "runs, and {out} is empty"));
  EXPECT_EQ(AdviceOnMissingFile(InvalidArgument("found exit code 3"), "/jobs"),
            "");
}

}  // namespace
}  // namespace gauntlet
