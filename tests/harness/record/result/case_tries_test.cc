#include "harness/record/result/case_tries.h"

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

CaseResult Try(VerdictKind kind, const std::string& reason, int number) {
  return {.name = "a",
          .world = "real",
          .seconds = 1.5,
          .reference_seconds = 0.5,
          .directory = "/runs/r/" + FolderOfTry("a", "real", number),
          .cause = kind == VerdictKind::kFail ? "tensor rng/key" : "",
          .verdict = {.kind = kind,
                      .reason = reason,
                      .timeline = {"line of try " + std::to_string(number)}}};
}

std::vector<CaseResult> FailedThenPassed() {
  return {Try(VerdictKind::kFail, "trajectory", 1),
          Try(VerdictKind::kPass, "", 2)};
}

TEST(CaseTriesTest, FirstTry_UsesTheFolderOfTheCase) {
  EXPECT_EQ(FolderOfTry("a[b=1]", "real", 1), "a[b=1].real");
  EXPECT_EQ(FolderOfTry("a[b=1]", "real", 3), "a[b=1]~try-3.real");
}

TEST(CaseTriesTest, OneTryIsTheResult) {
  const CaseResult one = Try(VerdictKind::kFail, "store", 1);
  EXPECT_EQ(JoinTries({one}, FlakyVerdict::kFails), one);
}

TEST(CaseTriesTest, LaterPass_IsFlakyAndFails) {
  const CaseResult joined = JoinTries(FailedThenPassed(), FlakyVerdict::kFails);
  EXPECT_TRUE(joined.flaky);
  EXPECT_EQ(joined.verdict.kind, VerdictKind::kFail);
  EXPECT_EQ(joined.verdict.reason, "failed 1 of 2 tries: trajectory");
  EXPECT_EQ(joined.cause, "tensor rng/key");
  EXPECT_EQ(joined.directory, "/runs/r/a.real");
  EXPECT_EQ(joined.seconds, 3.0);
  EXPECT_EQ(joined.reference_seconds, 1.0);
}

TEST(CaseTriesTest, KeepsEveryTry) {
  const CaseResult joined = JoinTries(FailedThenPassed(), FlakyVerdict::kFails);
  ASSERT_EQ(joined.tries.size(), 2u);
  EXPECT_EQ(joined.tries[0].verdict.kind, VerdictKind::kFail);
  EXPECT_EQ(joined.tries[0].cause, "tensor rng/key");
  EXPECT_EQ(joined.tries[1].verdict.kind, VerdictKind::kPass);
  EXPECT_EQ(joined.tries[1].directory, "/runs/r/a~try-2.real");
}

TEST(CaseTriesTest, LaterPass_PassesTheCase_IfFlakyCasesPass) {
  const CaseResult joined =
      JoinTries(FailedThenPassed(), FlakyVerdict::kPasses);
  EXPECT_TRUE(joined.flaky);
  EXPECT_EQ(joined.verdict.kind, VerdictKind::kPass);
  EXPECT_EQ(joined.verdict.reason, "failed 1 of 2 tries: trajectory");
  EXPECT_EQ(joined.directory, "/runs/r/a~try-2.real");
  EXPECT_EQ(joined.tries[0].verdict.timeline[0], "line of try 1");
}

TEST(CaseTriesTest, NoPass_FailsWhateverFlakyCasesDo) {
  for (const FlakyVerdict flaky :
       {FlakyVerdict::kFails, FlakyVerdict::kPasses}) {
    const CaseResult joined =
        JoinTries({Try(VerdictKind::kFail, "store", 1),
                   Try(VerdictKind::kFail, "trajectory", 2)},
                  flaky);
    EXPECT_FALSE(joined.flaky);
    EXPECT_EQ(joined.verdict.kind, VerdictKind::kFail);
    EXPECT_EQ(joined.verdict.reason, "failed 2 of 2 tries: store");
  }
}

TEST(CaseTriesTest, InconclusiveTries) {
  const CaseResult idle = Try(VerdictKind::kError, "never fired", 1);
  const CaseResult passed = Try(VerdictKind::kPass, "", 2);
  const CaseResult flaky = JoinTries({idle, passed}, FlakyVerdict::kFails);
  EXPECT_TRUE(flaky.flaky);
  EXPECT_EQ(flaky.verdict.kind, VerdictKind::kFail);
  EXPECT_EQ(flaky.verdict.reason, "inconclusive in 1 of 2 tries: never fired");
  const CaseResult never = JoinTries({idle, idle}, FlakyVerdict::kFails);
  EXPECT_FALSE(never.flaky);
  EXPECT_EQ(never.verdict.kind, VerdictKind::kError);
}

TEST(CaseTriesTest, ViolationOutranksAnInconclusiveTry) {
  const CaseResult joined = JoinTries(
      {Try(VerdictKind::kError, "never fired", 1),
       Try(VerdictKind::kFail, "store", 2), Try(VerdictKind::kPass, "", 3)},
      FlakyVerdict::kFails);
  EXPECT_EQ(joined.verdict.reason,
            "failed 1 and inconclusive in 1 of 3 tries: store");
  EXPECT_EQ(joined.directory, "/runs/r/a~try-2.real");
}

}  // namespace
}  // namespace gauntlet
