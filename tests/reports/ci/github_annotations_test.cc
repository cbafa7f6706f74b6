#include "reports/ci/github_annotations.h"

#include <algorithm>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/reports/markup_check.h"
#include "tests/reports/sample_result.h"

namespace gauntlet {
namespace {

using testing::HasSubstr;

CaseResult FailedCase(const std::string& name, const std::string& cause) {
  return {.name = name,
          .file = "scenarios/torn.yaml",
          .line = 12,
          .world = "sim",
          .seconds = 1,
          .cause = cause,
          .verdict = {.kind = VerdictKind::kFail}};
}

std::string Annotations(const RunResult& result,
                        const AnnotationPlace& place = {}) {
  return RenderGithubAnnotations(result, place);
}

TEST(GithubAnnotationsTest, NamesFileLineCauseAndReplay) {
  EXPECT_EQ(
      Annotations(SampleResult()),
      "::error file=scenarios/torn.yaml,line=12,title=torn-manifest "
      "(real)%3A failed::the state loaded at step 50 differs: tensor rng/key"
      "%0AReplay: gauntlet replay 7f3a/torn-manifest\n"
      "::warning file=scenarios/torn.yaml,line=30,title=disk-full (sim)%3A "
      "inconclusive::full never fired: errno any at ckpt.begin\n");
}

TEST(GithubAnnotationsTest, EscapesSpecialCharacters) {
  RunResult result = {.cases = {FailedCase("a,b:c%d", "50%\r\n::error::x")}};
  result.cases[0].replay = "one\ntwo";
  const std::string text = Annotations(result);
  EXPECT_THAT(text, HasSubstr("title=a%2Cb%3Ac%25d (sim)%3A failed::50%25"));
  EXPECT_THAT(text, HasSubstr("%0AReplay: one two\n"));
  EXPECT_EQ(CountOf(text, "\n"), 1u);
}

TEST(GithubAnnotationsTest, HostileTextStaysOnItsLine) {
  const std::string text =
      Annotations({.cases = {FailedCase(HostileText(), HostileText())}});
  EXPECT_EQ(CountOf(text, "\n"), 1u);
  EXPECT_EQ(std::ranges::count_if(
                text, [](unsigned char c) { return c < 0x20 || c == 0x7f; }),
            1);
}

TEST(GithubAnnotationsTest, TenOfAKind_TheTenthCountsTheRest) {
  RunResult result;
  for (int i = 0; i < 10; ++i) result.cases.push_back(FailedCase("a", "b"));
  EXPECT_EQ(CountOf(Annotations(result), "::error file="), 10u);
  for (int i = 0; i < 13; ++i) result.cases.push_back(FailedCase("a", "b"));
  const std::string text = Annotations(result);
  EXPECT_EQ(CountOf(text, "::error"), 10u);
  EXPECT_THAT(text,
              testing::EndsWith(
                  "::error::14 more (14 failed); summary.md lists them\n"));
}

TEST(GithubAnnotationsTest, FlakyCases_AreErrors_IfTheyFail) {
  EXPECT_THAT(
      Annotations({.cases = {FlakyCase(FlakyVerdict::kFails)}}),
      HasSubstr("::error file=scenarios/torn.yaml,line=12,title=torn-manifest "
                "(real)%3A flaky::the state loaded"));
  EXPECT_THAT(
      Annotations({.cases = {FlakyCase(FlakyVerdict::kPasses)}}),
      HasSubstr("::warning file=scenarios/torn.yaml,line=12,title="
                "torn-manifest (real)%3A flaky::failed 1 of 2 tries: "));
  RunResult result;
  for (int i = 0; i < 11; ++i) result.cases.push_back(FailedCase("a", "b"));
  result.cases.push_back(FlakyCase(FlakyVerdict::kFails));
  EXPECT_THAT(Annotations(result), HasSubstr("::3 more (1 flaky, 2 failed);"));
}

TEST(GithubAnnotationsTest, FileIsRelativeToTheWorkspaceAboveIt) {
  const auto shown = [](const std::string& file, const AnnotationPlace& place) {
    RunResult result = {.cases = {FailedCase("a", "b")}};
    result.cases[0].file = file;
    const std::string text = Annotations(result, place);
    return text.substr(0, text.find(",line"));
  };
  const AnnotationPlace place = {.workspace = "/w/repo/",
                                 .directory = "/w/repo/sub"};
  EXPECT_EQ(shown("s/a.yaml", place), "::error file=sub/s/a.yaml");
  EXPECT_EQ(shown("../a.yaml", place), "::error file=a.yaml");
  EXPECT_EQ(shown("/w/repo/a.yaml", place), "::error file=a.yaml");
  EXPECT_EQ(shown("/w/repository/a.yaml", place),
            "::error file=/w/repository/a.yaml");
  EXPECT_EQ(shown("/w/repo/../a.yaml", place),
            "::error file=/w/repo/../a.yaml");
  EXPECT_EQ(shown("s/a.yaml", {}), "::error file=s/a.yaml");
}

TEST(GithubAnnotationsTest, PassedSkippedAndUnbegunCasesHaveNone) {
  const CaseResult unbegun = {
      .name = "late",
      .verdict = {.kind = VerdictKind::kNotRun, .reason = "interrupted"}};
  EXPECT_EQ(Annotations({.cases = {unbegun}}), "");
  RunResult result = SampleResult();
  std::erase_if(result.cases, [](const CaseResult& one) {
    return one.verdict.kind == VerdictKind::kFail ||
           one.verdict.kind == VerdictKind::kError;
  });
  EXPECT_EQ(Annotations(result), "");
}

}  // namespace
}  // namespace gauntlet
