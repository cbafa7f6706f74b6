#include "harness/trainer/trainer_case.h"

#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

TEST(TrainerCaseTest, ReasonStatesWhyCrashesWereNotTried) {
  CrashTestResult result;
  EXPECT_EQ(VerdictOnTrainer(result).kind, VerdictKind::kPass);
  const std::pair<TrialsEnd, std::string> cases[] = {
      {TrialsEnd::kLimit,
       "not all crashes were tried before the end of the time"},
      {TrialsEnd::kInterrupted, "interrupted before all crashes were tried"},
      {TrialsEnd::kError,
       "an error ended the test before all crashes were tried"}};
  for (const auto& [end, reason] : cases) {
    result.trials_end = end;
    const Verdict verdict = VerdictOnTrainer(result);
    EXPECT_EQ(verdict.kind, VerdictKind::kError) << reason;
    EXPECT_EQ(verdict.reason, reason);
  }
}

}  // namespace
}  // namespace gauntlet
