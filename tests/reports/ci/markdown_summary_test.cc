#include "reports/ci/markdown_summary.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/reports/markup_check.h"
#include "tests/reports/sample_record.h"
#include "tests/reports/sample_result.h"

namespace gauntlet {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

RunResult ManyFailures(size_t count, const std::string& text) {
  RunResult result = {.run = text, .build = text, .command = text};
  for (size_t i = 0; i < count; ++i) {
    result.cases.push_back(
        {.name = text,
         .file = text,
         .world = text,
         .seconds = 1,
         .replay = text,
         .cause = text,
         .verdict = {.kind = VerdictKind::kFail, .timeline = {text, text}}});
  }
  return result;
}

TEST(MarkdownSummaryTest, HasCountsCausesAndTheReplayCommand) {
  EXPECT_THAT(
      RenderMarkdownSummary({.result = SampleResult()}),
      AllOf(StartsWith("## Gauntlet: 4 cases in 11.8s: 1 passed, 1 "),
            HasSubstr("\n\nRun <code>7f3a</code>, build <code>0.1.0</code>"),
            HasSubstr("| FAIL | <code>torn-manifest</code><br>scenarios/"
                      "torn.yaml, line 12 | real | 2.2s | the state loaded at "
                      "step 50 differs: tensor rng/key |\n"),
            HasSubstr("| INCONCLUSIVE | <code>disk-full</code>"),
            HasSubstr("<pre>gauntlet replay 7f3a/torn-manifest\n</pre>"),
            HasSubstr("worker 0, incarnation 2  resumed from step 50"),
            Not(HasSubstr("gpu-reset"))));
}

TEST(MarkdownSummaryTest, RunThatPassedIsShort) {
  RunResult result = SampleResult();
  result.cases.resize(2);
  EXPECT_THAT(RenderMarkdownSummary({.result = result}),
              AllOf(Not(HasSubstr("|")), Not(HasSubstr("<details>"))));
}

TEST(MarkdownSummaryTest, NamesPlantedBugs_CaughtOrNot) {
  RunResult result = SampleResult();
  for (CaseResult& one : result.cases) one.planted_bugs = {"lose-metrics"};
  EXPECT_THAT(
      RenderMarkdownSummary({.result = result}),
      AllOf(HasSubstr("Note on <code>crash-mid-save&#91;workers=2&#93;</code> "
                      "(real): planted bug lose-metrics is on; no check "
                      "noticed it\n\n"),
            HasSubstr(
                "Planted: lose-metrics: after a load, the epoch&#39;s metrics "
                "start from zero (the scenario switches this bug on)\n")));
}

TEST(MarkdownSummaryTest, FlakyCasesAreListed_EvenIfTheyPass) {
  for (const auto verdict : {FlakyVerdict::kFails, FlakyVerdict::kPasses}) {
    const RunResult result = {.cases = {FlakyCase(verdict)}};
    EXPECT_THAT(RenderMarkdownSummary({.result = result}),
                AllOf(HasSubstr("0 passed, 1 flaky\n"),
                      HasSubstr("| FLAKY | <code>torn-manifest</code>"),
                      HasSubstr("(real) flaky</summary>"),
                      HasSubstr(": failed 1 of 2 tries: ")));
  }
}

TEST(MarkdownSummaryTest, UnmetExpectationIsNoFailedCheck) {
  EXPECT_THAT(RenderMarkdownSummary({.result = {.cases = {UnmetCase()}}}),
              AllOf(Not(HasSubstr("Checks that failed")),
                    HasSubstr("Expected: resumed_from: expected step 10, "
                              "found step 5\n"),
                    HasSubstr("\nNext: if the run was right, ")));
  EXPECT_THAT(RenderMarkdownSummary({.result = SampleResult()}),
              AllOf(HasSubstr("Checks that failed: trajectory, restarts\n"),
                    HasSubstr("Expected: restarts: expected exactly 1, found "
                              "2\n")));
}

TEST(MarkdownSummaryTest, QuotesTheTimelineOfARecord) {
  const RunResult result = SampleResult();
  const std::string text =
      RenderMarkdownSummary({.result = result, .load = [](const CaseResult&) {
                               return SampleRecord();
                             }});
  EXPECT_THAT(text, AllOf(HasSubstr("crash fires: crash worker 1 at step.end"),
                          HasSubstr("resumes from step 2")));
}

TEST(MarkdownSummaryTest, OutsideTextHasNoMeaning) {
  EXPECT_EQ(MarkdownText("a|b`c<d>\n*e* [f](g) @h", 100),
            "a&#124;b&#96;c&lt;d&gt; &#42;e&#42; &#91;f&#93;(g) &#64;h");
  EXPECT_EQ(MarkdownText("torn_write at 1: _x_ http://a :x: www.b", 100),
            "torn_write at 1: &#95;x&#95; http&#58;//a &#58;x: www&#46;b");
  EXPECT_EQ(MarkdownText("it's & \\", 100), "it&#39;s &amp; &#92;");
  EXPECT_EQ(MarkdownText("abcdef", 3), "abc…");
}

TEST(MarkdownSummaryTest, HostileTextStaysInItsPlace) {
  const std::string text =
      RenderMarkdownSummary({.result = ManyFailures(3, HostileText())});
  EXPECT_EQ(FirstUnbalancedTag(text), "");
  EXPECT_THAT(text, Not(HasSubstr("<script")));
  EXPECT_EQ(CountOf(text, "<details>"), 3u);
  // One line of the table's header, and one per case.
  EXPECT_EQ(CountOf(text, "\n| "), 1u + 3u);
}

TEST(MarkdownSummaryTest, CountsRowsBeyondTheLimits) {
  const std::string many =
      RenderMarkdownSummary({.result = ManyFailures(500, "x")});
  EXPECT_EQ(CountOf(many, "\n| FAIL"), MarkdownLimits().rows);
  EXPECT_EQ(CountOf(many, "<details>"), MarkdownLimits().details);
  EXPECT_THAT(many, AllOf(HasSubstr("\n+300 more: report.html and result.json "
                                    "have all.\n"),
                          HasSubstr("\n+480 more without details.\n")));
}

TEST(MarkdownSummaryTest, NeverExceedsItsLimit) {
  const std::string text(100'000, '|');
  for (const size_t limit : {size_t{40'000}, size_t{200'000}}) {
    EXPECT_LE(RenderMarkdownSummary({.result = ManyFailures(1000, text)},
                                    {.bytes = limit})
                  .size(),
              limit);
  }
  EXPECT_LE(RenderMarkdownSummary({.result = ManyFailures(1000, text)}).size(),
            size_t{900} * 1024);
}

}  // namespace
}  // namespace gauntlet
