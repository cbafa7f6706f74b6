#include "reports/html/exploration_report.h"

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

const Record& Sample() {
  static const Record record = SampleRecord();
  return record;
}

ReportedFinding SampleFinding() {
  return {.result = SampleResult().cases[3],
          .record = &Sample(),
          .check = "trajectory (state-digest)",
          .faults = {"crash: crash worker 1 at step.end"},
          .origin = "3 cases broke this, case 17 first."};
}

ExplorationReport SampleReport() {
  ExplorationReport report = {
      .base = "explore-base",
      .strip = {.title = "1,204 cases: 1,200 passed, 3 failed (1 cause)",
                .counts = {{"failed", "failed", 3}, {"passed", "passed", 1200}},
                .facts = {{"seed", "7"}, {"end", "stopped: time budget"}},
                .below = "<p>below</p>\n"},
      .growth = {{.name = "fault points reached",
                  .x_name = "case",
                  .x_end = 1204,
                  .total = 40,
                  .steps = {{1, 2}, {100, 30}, {900, 36}}}},
      .goals = {{.name = "often", .description = "d", .cases = 1000},
                {.name = "missed", .description = "m"},
                {.name = "seldom", .description = "s", .rare = true}},
      .coverage = CoverageMatrix({.kinds = {"crash"}, .points = {"step.end"}}),
      .findings = {SampleFinding()},
      .crash_findings = {{.id = "weak-save-1-2-x",
                          .event = "power lost after rename",
                          .survived = {"a.tmp is torn"},
                          .expected = "step 4",
                          .found = "a cold start",
                          .replay = "gauntlet replay x.crash.json"}},
      .crash_windows = {{.disk = "weak",
                         .window = "save",
                         .crash_points = 31,
                         .outcomes = 5000,
                         .states = 700,
                         .left_out = 12,
                         .finished = false}},
      .not_tried = {{"kind gpu_error", "the base has no device"}}};
  return report;
}

ExplorationReport HostileReport() {
  const std::string hostile = HostileText();
  ExplorationReport report = SampleReport();
  report.base = report.strip.title = report.strip.facts[0].second = hostile;
  report.growth[0].name = report.growth[0].x_name = hostile;
  report.goals[0].name = report.goals[0].description = hostile;
  report.coverage->Add(hostile, hostile, 1, 0);
  ReportedFinding& finding = report.findings[0];
  finding.check = finding.origin = finding.faults[0] = hostile;
  finding.result.cause = finding.result.name = hostile;
  ReportedCrashState& state = report.crash_findings[0];
  state.id = state.event = state.expected = state.found = hostile;
  state.replay = state.survived[0] = hostile;
  report.crash_windows[0].disk = report.crash_windows[0].window = hostile;
  report.not_tried[0] = {hostile, hostile};
  return report;
}

TEST(ExplorationReportTest, HasAllParts) {
  const std::string html = RenderExploration(SampleReport());
  for (const char* part :
       {"<h1>1,204 cases: 1,200 passed, 3 failed (1 cause)</h1>",
        "<dt>seed</dt><dd>7</dd>", "<p>below</p>",
        "fault points reached: 36 of 40</figcaption>",
        "Never reached: 2 of 3 goals.", "never (rare)</span>",
        "<a href=\"#finding-1\">1</a>",
        "the state loaded at step 50 differs: tensor rng/key",
        "Finding 1: 3 cases broke this, case 17 first.", "<figure class=\"swim",
        "gauntlet replay 7f3a/torn-manifest", "power lost after rename",
        "gauntlet replay x.crash.json", "unfinished</span>",
        "<td class=\"hole\">", "the base has no device"}) {
    EXPECT_THAT(html, HasSubstr(part));
  }
}

TEST(ExplorationReportTest, LoadsNothingAndLinksLeadSomewhere) {
  const std::string html = RenderExploration(SampleReport());
  EXPECT_EQ(FirstUnbalancedTag(html), "");
  for (const std::string& target : ValuesOf(html, "href")) {
    EXPECT_EQ(CountOf(html, " id=\"" + target.substr(1) + "\""), 1u) << target;
  }
  for (const char* part :
       {"http:", "https:", " src=", "url(", "@import", "<link", "fetch("}) {
    EXPECT_THAT(html, Not(HasSubstr(part)));
  }
}

TEST(ExplorationReportTest, EmptyReportIsWellFormed) {
  const std::string html = RenderExploration({});
  EXPECT_EQ(FirstUnbalancedTag(html), "");
  EXPECT_THAT(html, AllOf(HasSubstr("Nothing was found."),
                          HasSubstr("Nothing that the mode tries")));
}

TEST(ExplorationReportTest, HostileTextIsEscaped) {
  const std::string html = RenderExploration(HostileReport());
  EXPECT_EQ(FirstUnbalancedTag(html), "");
  EXPECT_EQ(CountOf(html, "<script"), 1u);
  EXPECT_EQ(CountOf(html, "</script"), 1u);
  EXPECT_THAT(html, AllOf(Not(HasSubstr("<!--")), Not(HasSubstr("\xff")),
                          Not(HasSubstr("\x01"))));
  EXPECT_THAT(WithoutCode(html), Not(HasSubstr("onload='")));
}

TEST(ExplorationReportTest, GoalsThatWereMissedComeFirst) {
  const std::string html = RenderExploration(SampleReport());
  EXPECT_LT(html.find("<code>missed</code>"), html.find("<code>often</code>"));
}

TEST(ExplorationReportTest, SizeIsBoundedWithManyFindings) {
  ExplorationReport report = SampleReport();
  report.findings.assign(20'000, SampleFinding());
  report.crash_findings.assign(20'000, report.crash_findings[0]);
  const std::string html = RenderExploration(report);
  EXPECT_LT(html.size(), 6u << 20);
  EXPECT_THAT(html, HasSubstr("100 of 40,000 findings are shown"));
  EXPECT_THAT(html, HasSubstr("19,500 findings more"));
}

TEST(ExplorationReportTest, SectionsKeepToTheirLimitOfBytes) {
  ExplorationReport report = SampleReport();
  report.findings.assign(3, SampleFinding());
  const std::string html = RenderExploration(report, {.section_bytes = 1});
  EXPECT_EQ(CountOf(html, "<p class=\"muted origin\">"), 1u);
  EXPECT_EQ(CountOf(html, "id=\"crash-state-"), 0u);
  EXPECT_THAT(html, HasSubstr("1 of 4 findings are shown; the limit is 50 "
                              "sections or 1 bytes. Each finding is stored"));
}

TEST(ExplorationReportTest, CrashStateWithALongDiskIsCut) {
  ExplorationReport report = SampleReport();
  report.findings.clear();
  report.crash_findings[0].survived.assign(1000, "a.tmp is torn");
  const std::string html = RenderExploration(report);
  EXPECT_EQ(CountOf(html, "<li>a.tmp is torn</li>"), 80u);
  EXPECT_THAT(html,
              HasSubstr("<li>920 lines more; the finding's file has all"));
}

TEST(StepPlotTest, DrawsStepsWithinThePicture) {
  const std::string html = RenderStepPlot({.name = "points",
                                           .x_name = "case",
                                           .x_end = 100,
                                           .total = 10,
                                           .steps = {{0, 5}, {50, 10}}});
  EXPECT_EQ(FirstUnbalancedTag(html), "");
  // The curve rises from half of the height to all of it, in the middle of the
  // width.
  EXPECT_THAT(html, HasSubstr("d=\"M46.0 144.0H46.0V79.0H196.0V14.0H346.0\""));
  EXPECT_THAT(html, HasSubstr("class=\"total\""));
  EXPECT_THAT(html,
              HasSubstr("aria-label=\"points: 10 of 10, against cases\""));
}

TEST(StepPlotTest, HasNoLineForATotalThatIsNotKnown) {
  const std::string html = RenderStepPlot(
      {.name = "pairs", .x_name = "case", .x_end = 0, .steps = {}});
  EXPECT_THAT(html, Not(HasSubstr("class=\"total\"")));
  EXPECT_THAT(html, Not(HasSubstr("nan")));
  EXPECT_THAT(html, HasSubstr("pairs: 0"));
}

TEST(ExplorationReportTest, FindingHasItsScenarioAndPlantedBug) {
  ExplorationReport report = SampleReport();
  report.findings[0].scenario = "name: found\n";
  report.findings[0].result.planted_bugs = {"lose-metrics"};
  const std::string html = RenderExploration(report);
  EXPECT_THAT(html, AllOf(HasSubstr(">name: found\n</pre>"),
                          HasSubstr("<br>planted bug <code>lose-metrics<"),
                          HasSubstr("its shrunk faults count only if")));
  report.findings.clear();
  EXPECT_THAT(RenderExploration(report),
              Not(HasSubstr("its shrunk faults count only if")));
}

TEST(CoverageMatrixTest, ImpossiblePairs_AreNoHoles) {
  CoverageMatrix matrix({.kinds = {"crash", "torn_write"},
                         .points = {"step.end", "ckpt.rename"},
                         .impossible = {{"torn_write", "step.end"}}});
  matrix.Add("crash", "step.end", 5, 0);
  matrix.Add("crash", "step.end", 0, 3);
  const std::string html = matrix.Render();
  EXPECT_THAT(html, HasSubstr("1 of 3 pairs of 2 fault kinds and 2 fault"));
  EXPECT_THAT(html, HasSubstr("title=\"crash at step.end: 3 of 5 fired\">3<"));
  EXPECT_EQ(CountOf(html, "<td class=\"hole\">"), 2u);
}

}  // namespace
}  // namespace gauntlet
