#include "reports/ci/run_comparison.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace gauntlet {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

CaseResult Of(const std::string& name, VerdictKind kind, double seconds = 1) {
  return {.name = name,
          .world = "sim",
          .seconds = seconds,
          .cause = kind == VerdictKind::kFail ? "why " + name : "",
          .verdict = {.kind = kind}};
}

std::vector<std::string> Names(const std::vector<ComparedCase>& cases) {
  std::vector<std::string> names;
  for (const ComparedCase& both : cases) {
    names.push_back(both.after != nullptr ? both.after->name
                                          : both.before->name);
  }
  return names;
}

constexpr auto kPass = VerdictKind::kPass;
constexpr auto kFail = VerdictKind::kFail;
constexpr auto kError = VerdictKind::kError;
constexpr auto kNotRun = VerdictKind::kNotRun;
constexpr auto kSkip = VerdictKind::kSkip;

TEST(RunComparisonTest, SortsCasesByTheirChange) {
  const RunResult before = {
      .run = "a",
      .cases = {Of("same", kPass), Of("broke", kPass), Of("stuck", kPass),
                Of("fixed", kFail), Of("bad", kFail), Of("gone", kFail),
                Of("off", kPass)}};
  const RunResult after = {
      .run = "b",
      .cases = {Of("same", kPass), Of("broke", kFail), Of("stuck", kError),
                Of("fixed", kPass), Of("bad", kError), Of("new", kPass),
                Of("new-bad", kFail), Of("off", kSkip)}};
  const RunComparison found = CompareRuns(before, after);
  EXPECT_THAT(Names(found.newly_failing), ElementsAre("broke", "stuck"));
  EXPECT_THAT(Names(found.newly_passing), ElementsAre("fixed"));
  EXPECT_THAT(Names(found.newly_skipped), ElementsAre("off"));
  EXPECT_THAT(Names(found.added), ElementsAre("new", "new-bad"));
  EXPECT_THAT(Names(found.removed), ElementsAre("gone"));
}

TEST(RunComparisonTest, CaseThatWasNotRunNeitherFailsNorPasses) {
  const RunResult before = {.cases = {Of("left", kPass), Of("broke", kNotRun),
                                      Of("same", kNotRun), Of("ran", kNotRun)}};
  const RunResult after = {.cases = {Of("left", kNotRun), Of("broke", kFail),
                                     Of("same", kNotRun), Of("ran", kPass, 9),
                                     Of("new", kNotRun)}};
  const RunComparison found = CompareRuns(before, after);
  EXPECT_THAT(Names(found.newly_not_run), ElementsAre("left"));
  EXPECT_THAT(Names(found.added), ElementsAre("new"));
  EXPECT_THAT(Names(found.newly_failing), ElementsAre("broke"));
  EXPECT_THAT(found.newly_passing, IsEmpty());
  EXPECT_THAT(found.slower, IsEmpty());
  EXPECT_THAT(
      RenderComparison(found, Colour::kOff),
      HasSubstr("newly not run: 1\n  sim  left  PASS -> NOT RUN  1.0s -> -\n"));
}

TEST(RunComparisonTest, IsWorse_IfANewCaseDoesNotHold) {
  const RunResult before = {.cases = {Of("same", kFail)}};
  for (const auto& [kind, is_worse] :
       {std::pair(kPass, false), std::pair(kSkip, false),
        std::pair(kFail, true), std::pair(kError, true),
        std::pair(kNotRun, true)}) {
    const RunResult after = {.cases = {Of("same", kFail), Of("new", kind)}};
    EXPECT_EQ(IsWorse(CompareRuns(before, after)), is_worse)
        << VerdictKindName(kind);
  }
}

TEST(RunComparisonTest, WorldsOfACaseAreTwoCases) {
  RunResult before = {.cases = {Of("a", kPass), Of("a", kFail)}};
  before.cases[1].world = "real";
  const RunComparison found = CompareRuns(before, before);
  EXPECT_THAT(found.newly_failing, IsEmpty());
  EXPECT_THAT(found.added, IsEmpty());
}

TEST(RunComparisonTest, SlowerIsBothTwentyPercentAndATenthOfASecond) {
  const auto slower = [](double before, double after,
                         VerdictKind kind = kPass) {
    const RunResult one = {.cases = {Of("a", kPass, before)}};
    const RunResult two = {.cases = {Of("a", kind, after)}};
    return !CompareRuns(one, two).slower.empty();
  };
  EXPECT_TRUE(slower(1.9, 2.4));
  EXPECT_TRUE(slower(1.9, 2.4, kFail));
  EXPECT_FALSE(slower(10, 11.9));
  EXPECT_FALSE(slower(0.01, 0.1));
  EXPECT_FALSE(slower(2.4, 1.9));
  EXPECT_FALSE(slower(1, 9, kSkip));
}

TEST(RunComparisonTest, FlakyCasesCountAsTheirVerdict) {
  CaseResult fails = Of("a", kFail);
  CaseResult passes = Of("a", kPass);
  fails.flaky = passes.flaky = true;
  const RunResult before = {.cases = {Of("a", kPass)}};
  const RunResult failed = {.cases = {fails}};
  const RunResult passed = {.cases = {passes}};
  EXPECT_THAT(RenderComparison(CompareRuns(before, failed), Colour::kOff),
              HasSubstr("newly failing: 1\n  sim  a  PASS -> FAIL (flaky)  "));
  EXPECT_THAT(RenderComparison(CompareRuns(failed, passed), Colour::kOff),
              HasSubstr("newly passing: 1\n  sim  a  FAIL (flaky) -> PASS "
                        "(flaky)  "));
  EXPECT_THAT(CompareRuns(before, passed).newly_failing, IsEmpty());
}

TEST(RunComparisonTest, RendersLines) {
  const RunResult before = {
      .run = "a", .build = "x", .cases = {Of("t\x1b[2J", kPass, 1.9)}};
  const RunResult after = {
      .run = "b", .build = "y", .cases = {Of("t\x1b[2J", kFail, 2.4)}};
  EXPECT_THAT(
      RenderComparison(CompareRuns(before, after), Colour::kOff),
      AllOf(HasSubstr("before  run a (1 case, build x)\nafter   run b (1 "
                      "case, build y)\nnewly failing: 1\n"
                      "  sim  t\\x1b[2J  PASS -> FAIL  1.9s -> 2.4s  why t"),
            HasSubstr("newly passing: 0\n"),
            HasSubstr("slower by more than 20 % and 0.1 s: 1\n")));
}

TEST(RunComparisonTest, JsonHasBothSides) {
  const RunResult before = {.run = "a"};
  const RunResult after = {.run = "b", .cases = {Of("t", kFail, 2.5)}};
  const auto json =
      nlohmann::json::parse(ComparisonToJson(CompareRuns(before, after)));
  EXPECT_EQ(json["schema"], "gauntlet.comparison/v1");
  EXPECT_EQ(json["after"]["cases"], 1);
  const auto& failing = json["added"][0];
  EXPECT_TRUE(failing["before"].is_null());
  EXPECT_EQ(failing["after"]["verdict"], "FAIL");
  EXPECT_EQ(failing["after"]["cause"], "why t");
}

}  // namespace
}  // namespace gauntlet
