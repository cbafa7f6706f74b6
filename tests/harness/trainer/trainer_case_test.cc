#include "harness/trainer/trainer_case.h"

#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

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

}  // namespace
}  // namespace gauntlet
