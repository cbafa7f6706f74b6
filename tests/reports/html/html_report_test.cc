#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/html/case_section.h"
#include "reports/html/case_table.h"
#include "reports/html/page/words.h"
#include "reports/html/report.h"
#include "tests/reports/markup_check.h"
#include "tests/reports/sample_record.h"
#include "tests/reports/sample_result.h"
#include <nlohmann/json.hpp>

namespace gauntlet {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr size_t kMany = 100'000;

std::optional<Record> LoadSample(const CaseResult&) { return SampleRecord(); }

std::string Render(const RunResult& result, const HtmlLimits& limits = {}) {
  return RenderHtml({.result = result,
                     .load = LoadSample,
                     .command = "gauntlet run scenarios --seed 42"},
                    limits);
}

RunResult ManyCases() {
  const RunResult sample = SampleResult();
  RunResult result = sample;
  result.cases.clear();
  for (size_t i = 0; i < kMany; ++i) {
    result.cases.push_back(sample.cases[i % 50 == 0 ? 3 : 0]);
    result.cases.back().name += "[seed=" + std::to_string(i) + "]";
  }
  return result;
}

RunResult HostileResult() {
  RunResult result = SampleResult();
  const std::string hostile = HostileText();
  result.run = result.build = hostile;
  for (CaseResult& one : result.cases) {
    one.name = one.scenario = one.file = one.world = one.replay = hostile;
    one.directory = one.verdict.reason = hostile;
    one.verdict.timeline = {hostile};
    one.verdict.broken_expectations = {{hostile, hostile, hostile}};
    one.verdict.invariants = {{hostile, 1, 1, {{hostile, hostile, hostile}}}};
  }
  return result;
}

Record HostileRecord() {
  Record record = SampleRecord();
  record.case_name = HostileText();
  record.faults[0] = {.id = HostileText(),
                      .kind = HostileText(),
                      .point = HostileText(),
                      .summary = HostileText()};
  return record;
}

json CaseData(const std::string& html) {
  const std::string begin = "id=\"case-data\">";
  const size_t at = html.find(begin) + begin.size();
  return json::parse(html.substr(at, html.find("</script>", at) - at));
}

TEST(HtmlReportTest, BeginsWithTheVerdicts) {
  const std::string html = Render(SampleResult());
  EXPECT_THAT(html, HasSubstr("<h1>4 cases: 1 failed, 1 inconclusive, 1 "
                              "passed, 1 skipped</h1>"));
  EXPECT_THAT(html, HasSubstr("<dt>build</dt><dd>0.1.0</dd>"));
  EXPECT_THAT(html, HasSubstr("<dt>seed</dt><dd>42</dd>"));
  EXPECT_THAT(html, HasSubstr("<dt>wall time</dt><dd>11.8 s</dd>"));
  EXPECT_THAT(html, HasSubstr("<code>gauntlet run scenarios --seed 42</code>"));
}

TEST(HtmlReportTest, CaseNamesTheTimeOfALongReferenceRun) {
  CaseResult slow = SampleResult().cases[0];
  slow.seconds = 41;
  slow.reference_seconds = 39;
  EXPECT_THAT(RenderCaseSection(slow, SampleRecord(), {.id = "case-0"}),
              HasSubstr("of wall time (39.0s of it for the reference run"));
  slow.reference_seconds = 0.5;
  EXPECT_THAT(RenderCaseSection(slow, SampleRecord(), {.id = "case-0"}),
              Not(HasSubstr("of it for the reference run")));
}

// The time of the events is shorter than the wall time, which includes the
// start of the processes and the judgement.
TEST(HtmlReportTest, RealCaseNamesTheTimeOfItsEvents) {
  const CaseResult one = SampleResult().cases[0];
  Record record = SampleRecord();
  EXPECT_THAT(RenderCaseSection(one, record, {.id = "case-0"}),
              HasSubstr(" of wall time, 91 ms from the first event to the "
                        "last</span>"));
  record.virtual_seconds = 2;
  EXPECT_THAT(RenderCaseSection(one, record, {.id = "case-0"}),
              AllOf(HasSubstr(" of wall time, 2 s of simulated time"),
                    Not(HasSubstr("from the first event"))));
}

TEST(HtmlReportTest, OnlyACaseThatResumedHasRecomputedSteps) {
  RunResult result = SampleResult();
  result.cases[0].verdict.facts = {.faults_fired = 1, .restarts = 1};
  const auto recomputed = [&result] {
    const json data = CaseData(Render(result));
    for (const json& row : data["rows"]) {
      if (row[0] == result.cases[0].name) return row[5].get<int>();
    }
    return -2;
  };
  EXPECT_EQ(recomputed(), -1);
  result.cases[0].verdict.facts.resumed_from = 50;
  EXPECT_EQ(recomputed(), 0);
}

TEST(HtmlReportTest, TableCutsAReasonThatTheSectionHasInFull) {
  RunResult result = SampleResult();
  result.cases[1].cause = std::string(500, 'c');
  const json data = CaseData(Render(result));
  const auto longest = std::ranges::max_element(
      data["texts"], {},
      [](const json& text) { return text.get<std::string>().size(); });
  EXPECT_LE(longest->get<std::string>().size(), 203U);  // with "…"
  EXPECT_THAT(Render(result), HasSubstr(result.cases[1].cause));
}

TEST(HtmlReportTest, HeadNamesTheSeedThatAllCasesHave) {
  RunResult result = SampleResult();
  result.seed.reset();
  EXPECT_THAT(Render(result), HasSubstr("<dt>seed</dt><dd>one per case</dd>"));
  for (CaseResult& one : result.cases) one.seed = 1;
  EXPECT_THAT(Render(result),
              HasSubstr("<dt>seed</dt><dd>1 in each case</dd>"));
  result.cases.back().seed = 2;
  EXPECT_THAT(Render(result), HasSubstr("<dt>seed</dt><dd>one per case</dd>"));
}

TEST(HtmlReportTest, CountsCasesThatWereNotRun) {
  RunResult result = SampleResult();
  EXPECT_THAT(Render(result), Not(HasSubstr("1 not run")));
  result.cases.push_back(CaseLeft());
  const std::string html = Render(result);
  EXPECT_THAT(html, HasSubstr("<h1>5 cases: 1 failed, 1 inconclusive, 1 "
                              "passed, 1 skipped, 1 not run</h1>"));
  EXPECT_THAT(html, HasSubstr("<span class=\"badge not-run\">not run</span>"));
  EXPECT_THAT(html,
              HasSubstr("<details class=\"case not-run\" id=\"case-4\">"));
}

TEST(HtmlReportTest, FlakyCase_HasItsOwnWord) {
  RunResult result = SampleResult();
  result.cases.push_back(FlakyCase(FlakyVerdict::kPasses));
  const std::string html = Render(result);
  EXPECT_THAT(html, HasSubstr("<h1>5 cases: 1 failed, 1 flaky, 1 "
                              "inconclusive, 1 passed, 1 skipped</h1>"));
  EXPECT_THAT(html, HasSubstr("<span class=\"badge flaky\">flaky</span>"));
  EXPECT_THAT(html, HasSubstr("<option value=\"1\">flaky</option>"));
  EXPECT_THAT(html, HasSubstr("<details class=\"case flaky\" id=\"case-4\" "
                              "open>"));
  EXPECT_THAT(html, HasSubstr("<p class=\"cause\">failed 1 of 2 tries: "));
  EXPECT_THAT(html, HasSubstr("<li>passed  <code>/runs/7f3a/torn-manifest~"));
  EXPECT_EQ(CaseData(html)["rows"][1][1], 1) << "after the failed one";
  EXPECT_EQ(FirstUnbalancedTag(html), "");
}

TEST(HtmlReportTest, CoverageIsFolded_IfOneCaseOrFewPairsArePlanned) {
  const auto is_folded = [](const RunResult& result, int pairs) {
    const auto load = [pairs](const CaseResult&) {
      Record record = SampleRecord();
      for (int i = 1; i < pairs; ++i) {
        record.faults.push_back({.kind = "crash", .point = std::to_string(i)});
      }
      return std::optional(record);
    };
    const std::string html = RenderHtml({.result = result, .load = load});
    return html.find(
               "<details><summary>Matrix of fault kinds and fault "
               "points: ") != html.npos;
  };
  RunResult result = SampleResult();
  EXPECT_TRUE(is_folded(result, 9));
  EXPECT_FALSE(is_folded(result, 10));
  result.cases.resize(1);
  EXPECT_TRUE(is_folded(result, 10));
}

TEST(HtmlReportTest, PlantedBugsHaveTheirMeaning) {
  RunResult result = SampleResult();
  for (CaseResult& one : result.cases) one.planted_bugs = {"lose-metrics"};
  const std::string html = Render(result);
  EXPECT_THAT(html,
              HasSubstr("; also restarts. The planted bug was caught, but "
                        "the case fails, as the scenario does not expect "
                        "a violation (expect.outcome is not violates)."
                        "</p>"));
  EXPECT_THAT(html,
              HasSubstr("<dt>planted bug</dt><dd>lose-metrics: after a load, "
                        "the epoch&#39;s metrics start from zero (the "));
  const std::string note =
      "planted bug lose-metrics is on; no check noticed it";
  EXPECT_THAT(html, HasSubstr("<p>Note: " + note + ".</p>"));
  EXPECT_THAT(html, HasSubstr("data-title=\"reason\">" + note + "</td>"));
}

TEST(HtmlReportTest, ScenarioIsGivenOfCasesThatFailed) {
  std::vector<std::string> asked;
  RenderHtml({.result = SampleResult(),
              .load = LoadSample,
              .scenario = [&](const CaseResult& one) {
                asked.push_back(one.name);
                return std::string("name: a\n");
              }});
  EXPECT_THAT(asked, ElementsAre("torn-manifest", "disk-full"));
}

TEST(HtmlReportTest, LoadsNothing) {
  const std::string html = Render(SampleResult());
  EXPECT_THAT(ValuesOf(html, "href"), Each(StartsWith("#")));
  for (const char* part :
       {"http:", "https:", " src=", "url(", "@import", "<link", "fetch("}) {
    EXPECT_THAT(html, Not(HasSubstr(part)));
  }
  EXPECT_THAT(html, HasSubstr("default-src 'none'"));
}

TEST(HtmlReportTest, LinksLeadSomewhere) {
  const std::string html = Render(SampleResult());
  for (const std::string& target : ValuesOf(html, "href")) {
    EXPECT_EQ(CountOf(html, " id=\"" + target.substr(1) + "\""), 1u) << target;
  }
}

TEST(HtmlReportTest, TagsAreBalanced) {
  EXPECT_EQ(FirstUnbalancedTag(Render(SampleResult())), "");
  EXPECT_EQ(FirstUnbalancedTag(Render({})), "");
  EXPECT_EQ(FirstUnbalancedTag("<p><b></p>"), "/p");  // the check can fail
}

TEST(HtmlReportTest, HostileTextIsEscaped) {
  const RunResult result = HostileResult();
  const auto load = [](const CaseResult&) { return HostileRecord(); };
  const std::string html =
      RenderHtml({.result = result, .load = load, .command = HostileText()});
  EXPECT_EQ(FirstUnbalancedTag(html), "");
  EXPECT_EQ(CountOf(html, "<script"), 2u);
  EXPECT_EQ(CountOf(html, "</script"), 2u);
  EXPECT_THAT(html, AllOf(Not(HasSubstr("<!--")), Not(HasSubstr("\xff")),
                          Not(HasSubstr("\x01"))));
  EXPECT_THAT(WithoutCode(html), Not(HasSubstr("onload='")));
}

TEST(HtmlReportTest, EqualInputsGiveEqualBytes) {
  EXPECT_EQ(Render(SampleResult()), Render(SampleResult()));
}

TEST(HtmlReportTest, SectionsOfFailedCasesComeFirst) {
  const std::string html = Render(SampleResult());
  std::vector<std::string> sections;
  for (const std::string& id : ValuesOf(html, "id")) {
    if (id.starts_with("case-") &&
        id.find_first_not_of("case-0123456789") == std::string::npos) {
      sections.push_back(id);
    }
  }
  EXPECT_THAT(sections, ElementsAre("case-3", "case-2", "case-0", "case-1"));
}

TEST(HtmlReportTest, SizeIsBoundedWithManyCases) {
  size_t loads = 0;
  const RunResult result = ManyCases();
  const auto load = [&loads](const CaseResult&) {
    ++loads;
    return std::optional(SampleRecord());
  };
  const HtmlLimits limits = {.records = 300};
  const std::string html = RenderHtml({.result = result, .load = load}, limits);
  EXPECT_LT(html.size(), 16u << 20);
  EXPECT_EQ(loads, limits.records);
  EXPECT_EQ(CountOf(html, "<details class=\"case "), limits.sections);
  EXPECT_EQ(CaseData(html)["rows"].size(), kMany);
  EXPECT_THAT(html, HasSubstr("200 of 100,000 cases have a section, failed"));
  EXPECT_THAT(html, HasSubstr("The limit is 200 sections or 8.0 MiB."));
  EXPECT_THAT(html, HasSubstr("Counts 300 of 100,000 cases"));
}

TEST(HtmlReportTest, SectionsKeepToTheirLimitOfBytes) {
  const std::string html = Render(SampleResult(), {.section_bytes = 1});
  EXPECT_EQ(CountOf(html, "<details class=\"case "), 1u);
  EXPECT_THAT(html, HasSubstr("<details class=\"case failed\" id=\"case-3\""));
}

TEST(HtmlReportTest, TableKeepsToItsLimitOfBytes) {
  const std::string html = Render(
      ManyCases(), {.sections = 1, .table_bytes = 100'000, .records = 1});
  EXPECT_LT(html.size(), 300'000u);
  EXPECT_THAT(html, HasSubstr(" cases left out: the table is limited to"));
}

TEST(CaseTableTest, HasARowPerCase) {
  const CaseTable table = RenderCaseTable(SampleResult(), {3}, 1 << 20);
  const json data = CaseData(table.html);
  ASSERT_EQ(data["rows"].size(), 4u);
  const json& failed = data["rows"][0];
  EXPECT_EQ(failed[0], "torn-manifest");
  EXPECT_EQ(failed[1], 0);
  EXPECT_EQ(data["texts"][failed[2].get<size_t>()], "real");
  EXPECT_EQ(failed[6], 2200);
  EXPECT_EQ(
      data["texts"][failed[7].get<size_t>()],
      "trajectory: after step 51 (worker 1, incarnation 2): state aa, expected "
      "bb; also restarts; cause: the state loaded at step 50 differs: "
      "tensor rng/key");
  EXPECT_EQ(failed[8], 3);
  EXPECT_EQ(data["rows"][2][8], -1);
  EXPECT_THAT(table.html, HasSubstr("<a href=\"#case-3\">torn-manifest</a>"));
}

TEST(CaseTableTest, CrashTestHasNoRestartsAndNoRecomputedSteps) {
  const RunResult result = {.cases = {UnmetCase()}};
  const CaseTable table = RenderCaseTable(result, {}, 1 << 20, {0});
  EXPECT_EQ(CaseData(table.html)["rows"][0][4], -1);
  EXPECT_EQ(CountOf(table.html, "\">–</td>"), 2u);
  EXPECT_EQ(CountOf(RenderCaseTable(result, {}, 1 << 20).html, "\">–</td>"),
            0u);
}

TEST(HtmlReportTest, FaultsOfACrashTestAreNotCounted) {
  CaseResult crash_test = UnmetCase();
  crash_test.world = "real";
  const RunResult result = {.cases = {crash_test}};
  const std::string html =
      RenderHtml({.result = result, .crash_test = [](const CaseResult&) {
                    return std::string("/c/report.html");
                  }});
  EXPECT_EQ(FirstUnbalancedTag(html), "");
  EXPECT_THAT(html, HasSubstr("The faults of 1 crash test are not counted"));
  EXPECT_THAT(html, Not(HasSubstr("class=\"matrix\"")));
  EXPECT_THAT(RenderHtml({.result = result}),
              Not(HasSubstr("crash test are not counted")));
}

TEST(WordsTest, ExplainsOnlyWordsThatOccur) {
  EXPECT_EQ(RenderWords("<p>Nothing of the field.</p>"), "");
  const std::string of_ulps = RenderWords("<th>Distance in ulps</th>");
  EXPECT_THAT(of_ulps, HasSubstr("<dt>ulps</dt>"));
  EXPECT_THAT(of_ulps, Not(HasSubstr("<dt>fenced</dt>")));
  EXPECT_THAT(RenderWords("loads step-000000005-g1"),
              HasSubstr("Words on this page: 1 explained</summary>"));
  EXPECT_THAT(
      RenderWords("it claims generation 2; step-000000005-g1 is fenced"),
      AllOf(HasSubstr("Words on this page: 3 explained<"),
            HasSubstr("<dt>claim</dt>"), HasSubstr("<dt>fenced</dt>")));
}

TEST(WordsTest, ExplainsOutcomesAndExitCodes) {
  const std::string html = RenderWords(
      "outcome: expected retry-later, found refuses; worker 0 exited with code "
      "74; exits with 7: no checkpoint");
  for (const std::string word : {"outcome retry-later", "outcome refuses",
                                 "exit code 74", "exit code 7"}) {
    EXPECT_THAT(html, HasSubstr("<dt>" + word + "</dt>"));
  }
  EXPECT_THAT(html, Not(HasSubstr("<dt>exit code 75</dt>")));
  EXPECT_THAT(html, Not(HasSubstr("<dt>outcome recovers</dt>")));
}

TEST(WordsTest, ExplainsAnExitCodeAtTheEndOfAText) {
  EXPECT_THAT(RenderWords("<dd>the launcher exited with code 1</dd>\n"),
              AllOf(HasSubstr("<dt>exit code 1</dt>"),
                    HasSubstr("the model cannot be exported")));
  EXPECT_THAT(RenderWords("<dd>the launcher exited with code 1</dd>"),
              HasSubstr("<dt>exit code 1</dt>"));
  EXPECT_THAT(RenderWords("the launcher exited with code 143"),
              Not(HasSubstr("<dt>exit code 1</dt>")));
}

TEST(WordsTest, ExplainsEachWord_IfItOccurs) {
  const struct {
    const char* html;
    const char* word;
  } kCases[] = {
      {"rejected step-000000024-finished-g2: torn", "step-N-finished, "},
      {"loads step-000000004-evaluation_due-g1", "step-N-finished, "},
      {"cut: power_loss worker 0 at ckpt.committed, occurrence 4",
       "occurrence<"},
      {"save of step 5..44 failed (40 times until 0.490s)", "N times until T<"},
      {"Recovered from 1 fault with 1 restart (requeue).", "requeue<"},
      {"ends the attempt (worker_left)", "worker_left<"},
      {"kills worker 1 (grace_over)", "grace_over<"},
      {"resumes from memory at step 7 (kept)", "from memory, kept, "},
      {"waits: w0.1 in recv", "host, w0.1<"},
      {"all hosts lose power (disk profile weak)", "disk profile<"},
      {"launcher:7000 #2: no frame came in time", "no frame came in time<"},
      {"launcher:7000 #2: no frame came in time", "HOST:PORT #N<"},
      {"cut: partition worker 1 at step.begin", "partition<"},
      {"step 7, incarnation any", "incarnation any<"},
      {"worker 0 is out of reach: given up", "is out of reach: given up<"},
      {"p: power_loss worker 0 at ckpt.begin", "power cut, power_loss<"},
      {"that then differs: bookkeeping", "bookkeeping<"},
      {"before a checkpoint is set aside", "set aside<"},
      {"fault_fired_again: unreadable", "fault_fired_again<"},
      {"resumed_from: expected step 10", "resumed_from<"},
      {"ends_at.step: expected exactly 30", "ends_at<"},
      {"set cluster.restart.policy to whole-job", "whole-job, rejoin<"},
      {"rank 0&#39;s shard: disk full", "shard<"},
      {"MANIFEST.json: missing", "MANIFEST.json<"},
      {"launches: [{lr: 0.5}]", "launches<"},
  };
  for (const auto& [html, word] : kCases) {
    EXPECT_THAT(RenderWords(html), HasSubstr(std::string("<dt>") + word));
  }
  EXPECT_THAT(RenderWords("step-000000005-g1 of generation 1"),
              HasSubstr("Words on this page: 1 explained</summary>"));
}

TEST(WordsTest, ExplainsMarksOfTheTimeline) {
  const std::string html = RenderWords(
      "<pre> 9 .- save of step 48 begins\n"
      "10 |&gt; loses rank 1 (closed) &lt;9, none torn</pre>");
  for (const char* word :
       {"torn", "closed, silent, deadline, refused", "marks of the timeline"}) {
    EXPECT_THAT(html, HasSubstr("<dt>" + std::string(word) + "</dt>"));
  }
  EXPECT_THAT(html, Not(HasSubstr("<dt>rejoin, survivor</dt>")));
}

TEST(HtmlReportTest, ExplainsTheVerdictsOfItsHead) {
  const std::string html = Render(SampleResult());
  EXPECT_THAT(html, AllOf(HasSubstr("<dt>flaky</dt><dd>The case failed in"),
                          HasSubstr("<dt>inconclusive</dt><dd>The case has")));
}

TEST(WordsTest, IgnoresTooltips) {
  EXPECT_EQ(RenderWords("<svg><title>fenced</title><use href=\"fenced\"/>"
                        "<desc id=\"a\">ulps</desc></svg>"),
            "");
}

TEST(HtmlReportTest, ExplainsItsWordsOnce_BeforeTheSections) {
  const std::string html =
      RenderHtml({.result = SampleResult(), .load = [](const CaseResult&) {
                    return std::optional(SampleRecord());
                  }});
  EXPECT_EQ(CountOf(html, "<details class=\"words\">"), 1U);
  EXPECT_LT(html.find("<details class=\"words\">"),
            html.find("<details class=\"case "));
}

TEST(CaseSectionTest, FailureHasCauseChecksAndCommand) {
  const CaseResult failed = SampleResult().cases[3];
  const std::string html =
      RenderCaseSection(failed, SampleRecord(), {.id = "case-3"});
  for (const char* part :
       {"<p class=\"cause\">Failed: after step 51 (worker 1, incarnation 2): "
        "state aa, expected bb (trajectory); also restarts.</p>",
        "<h4>Failed checks</h4>", "<code>trajectory</code> 7 violations</dt>",
        "6 more are counted; their texts are not kept",
        "<h4>Unmet expectations</h4>", "restarts: expected exactly 1, found 2",
        "crash worker 1 at step.end, step 3 <span class=\"fired\">fired</span> "
        "<span class=\"muted\">(point step.end: after the optimizer&#39;s "
        "update)</span>",
        "<code>gauntlet replay 7f3a/torn-manifest</code>",
        "<li>worker 0, incarnation 2  resumed from step 50</li>", "<figure"}) {
    EXPECT_THAT(html, HasSubstr(part));
  }
  EXPECT_LT(html.find("class=\"cause\""), html.find("<figure"));
  EXPECT_LT(html.find("<figure"), html.find("Failed checks"));
}

TEST(CaseSectionTest, FindingsBeyondTheFirstAreFolded) {
  CaseResult failed = SampleResult().cases[3];
  InvariantReport& report = failed.verdict.invariants[0];
  report.findings.resize(7, {"trajectory", "loss", "the last one"});
  const std::string html =
      RenderCaseSection(failed, std::nullopt, {.id = "case-3"});
  EXPECT_EQ(FirstUnbalancedTag(html), "");
  EXPECT_THAT(html, HasSubstr("<summary>2 more</summary><ul><li><code>loss"));
  EXPECT_THAT(html, Not(HasSubstr("are counted")));
}

TEST(CaseSectionTest, SummaryIsReadFromCauseToPlantedBug) {
  CaseResult failed = SampleResult().cases[3];
  failed.summary = {.faults = "the faults",
                    .recovery = "the recovery",
                    .training = "wrong",
                    .planted = "caught"};
  failed.planted_bugs = {"lose-metrics"};
  failed.seed = 7;
  const std::string html =
      RenderCaseSection(failed, std::nullopt, {.id = "case-3"});
  EXPECT_THAT(html, HasSubstr("<dl class=\"summary\">\n"
                              "<dt>cause</dt><dd>the state loaded"));
  EXPECT_THAT(html, HasSubstr("<dt>faults</dt><dd>the faults</dd>\n"
                              "<dt>recovery</dt><dd>the recovery</dd>\n"
                              "<dt>training result</dt><dd>wrong</dd>\n"
                              "<dt>planted bug</dt><dd>lose-metrics: "));
  EXPECT_THAT(html, HasSubstr("<dt></dt><dd>caught</dd>"));
  EXPECT_THAT(html, HasSubstr("The seed of this case is 7."));
}

TEST(CaseSectionTest, ReferenceNamesTheRowOfThePlantedBug) {
  CaseResult failed = SampleResult().cases[3];
  failed.summary.next = "expect their violation (see planted)";
  EXPECT_THAT(RenderCaseSection(failed, std::nullopt, {.id = "case-3"}),
              HasSubstr("expect their violation (see planted bug)<"));
}

TEST(CaseSectionTest, NamesChecksThatHadNothingToCheck) {
  CaseResult failed = SampleResult().cases[3];
  failed.verdict.invariants.push_back({.invariant = "grace"});
  failed.verdict.invariants.push_back({.invariant = "outputs"});
  EXPECT_THAT(RenderCaseSection(failed, std::nullopt, {.id = "case-3"}),
              HasSubstr("for them to check: grace, outputs</p>"));
  failed.verdict.invariants = {{.invariant = "grace"}};
  EXPECT_THAT(RenderCaseSection(failed, std::nullopt, {.id = "case-3"}),
              Not(HasSubstr("Not applicable")));
}

TEST(CaseSectionTest, TimelineHasTheWholeOfALongText) {
  Record record = SampleRecord();
  record.incarnations[0].events[6].detail = std::string(900, 'x') + "end";
  EXPECT_THAT(RenderCaseSection(UnmetCase(), record, {.id = "case-0"}),
              HasSubstr("xend &lt;3"));
}

TEST(CaseSectionTest, SeveralUnmetExpectationsAreAllListed) {
  CaseResult unmet = UnmetCase();
  unmet.verdict.reason = "resumed_from, restarts";
  unmet.verdict.broken_expectations.push_back(
      {"expectation", "restarts", "restarts: expected exactly 2, found 1"});
  EXPECT_THAT(
      RenderCaseSection(unmet, SampleRecord(), {.id = "case-0"}),
      HasSubstr("<dt>expected</dt><dd>resumed_from: expected step 10, found "
                "step 5</dd>\n"
                "<dt></dt><dd>restarts: expected exactly 2, found 1</dd>\n"));
}

TEST(CaseSectionTest, UnmetExpectationStandsAboveTheCause) {
  const std::string html =
      RenderCaseSection(UnmetCase(), SampleRecord(), {.id = "case-0"});
  EXPECT_THAT(html, HasSubstr("<p class=\"cause\">Failed: expectation "
                              "resumed_from: expected step 10, found step "
                              "5.</p>\n"
                              "<dl class=\"summary\">\n"
                              "<dt>cause</dt><dd>the save of step 10 failed"));
  EXPECT_THAT(html, HasSubstr("<dt>checks</dt><dd>no check found a violation "
                              "(2 of 2 passed); only"));
  EXPECT_THAT(html, HasSubstr("<dt>next step</dt><dd>if the run was right"));
  EXPECT_EQ(CountOf(html, "expected step 10, found step 5"), 1u);
  const CaseTable table =
      RenderCaseTable({.cases = {UnmetCase()}}, {}, 1 << 20);
  EXPECT_THAT(
      table.html,
      HasSubstr(
          "data-title=\"reason\">expectation resumed_from: expected step 10, "
          "found step 5; cause: the save of step 10 failed"));
}

TEST(CaseSectionTest, OutcomeSentenceNamesTheFirstViolation) {
  const struct {
    VerdictKind kind;
    const char* reason;
    const char* sentence;
  } kCases[] = {
      {VerdictKind::kFail, "grace",
       "Failed: worker 1 did not exit in time (grace)."},
      {VerdictKind::kFail, "grace, store",
       "Failed: worker 1 did not exit in time (grace); also store."},
      {VerdictKind::kFail, "no-hang, outcome",
       "Failed: the run did not end by itself in time (no-hang); also "
       "outcome."},
      {VerdictKind::kFail, "the planted bug was not caught by grace",
       "Failed: the planted bug was not caught by grace."},
      {VerdictKind::kFail, "fails: torn at a: the run ends with an error",
       "Failed: torn at a: the run ends with an error."},
      {VerdictKind::kError, "grace", "grace."},
  };
  CaseResult one = SampleResult().cases[3];
  one.verdict.invariants = {
      {"grace", 1, 1, {{"grace", "late", "worker 1 did not exit in time"}}},
      {"no-hang", 1, 1, {{"no-hang", "timed-out", "w0.1: task waits"}}}};
  for (const auto& [kind, reason, sentence] : kCases) {
    one.verdict.kind = kind;
    one.verdict.reason = reason;
    EXPECT_EQ(OutcomeSentence(one), sentence);
  }
}

TEST(CaseSectionTest, ViolationsAreExpected_IfOnlyTheWorldsDiffer) {
  CaseResult result = SampleResult().cases[3];
  result.verdict.broken_expectations.clear();
  FailFor("the worlds end differently: no final state (real)", result.verdict);
  EXPECT_THAT(
      RenderCaseSection(result, std::nullopt, {.id = "case-3"}),
      AllOf(
          HasSubstr("<h4>Violations (the scenario expects at least one)</h4>"),
          Not(HasSubstr("Failed checks"))));
}

TEST(CaseSectionTest, ReasonIsNotCut) {
  CaseResult unmet = UnmetCase();
  const std::string message = "outcome: " + std::string(300, 'x') + " end";
  unmet.verdict.broken_expectations[0].message = message;
  EXPECT_EQ(OutcomeSentence(unmet), "Failed: expectation " + message + ".");
}

TEST(CaseSectionTest, PlannedFaultIsCalledAFault) {
  EXPECT_THAT(RenderCaseSection(SampleResult().cases[3], SampleRecord(),
                                {.id = "case-3"}),
              HasSubstr("<li>fault <code>crash</code>: crash worker 1 at "));
}

TEST(CaseSectionTest, PassedCaseHasNoFailures) {
  const std::string html = RenderCaseSection(SampleResult().cases[0],
                                             SampleRecord(), {.id = "case-0"});
  EXPECT_THAT(html, HasSubstr("Recovered from 1 fault with 1 restart; resumed "
                              "from step 50, 1 step recomputed."));
  EXPECT_THAT(html, Not(HasSubstr("Failed checks")));
  EXPECT_THAT(html, Not(HasSubstr("Unmet expectations")));
  EXPECT_THAT(html, Not(HasSubstr(" open>")));
}

// Workers that keep the state in memory resume without a restart.
TEST(CaseSectionTest, RecoveryNamesOnlyRestartsThatThereWere) {
  CaseResult passed = SampleResult().cases[0];
  passed.verdict.facts = {.faults_fired = 1, .resumed_from_memory = 7};
  EXPECT_EQ(OutcomeSentence(passed),
            "Recovered from 1 fault; resumed from memory at step 7, 0 steps "
            "recomputed.");
}

TEST(CaseSectionTest, RefusalIsNotCalledARecovery) {
  CaseResult refused = SampleResult().cases[0];
  refused.verdict.facts = {.faults_fired = 2, .restarts = 1, .refused = true};
  EXPECT_EQ(OutcomeSentence(refused),
            "Refused to train after 2 faults and 1 restart; all checks "
            "passed.");
  EXPECT_THAT(RenderCaseSection(refused, SampleRecord(), {.id = "case-0"}),
              Not(HasSubstr("Recovered")));
}

TEST(CaseSectionTest, FaultThatNeverFiredIsMarked) {
  Record record = SampleRecord();
  record.incarnations[2].events.pop_back();
  const std::string html =
      RenderCaseSection(SampleResult().cases[2], record, {.id = "case-2"});
  EXPECT_THAT(html, HasSubstr("<span class=\"never-fired\">never fired"));
}

TEST(CaseSectionTest, GivesTheReason_WhenThereIsNoPicture) {
  const CaseResult failed = SampleResult().cases[3];
  EXPECT_THAT(RenderCaseSection(failed, std::nullopt, {.id = "case-3"}),
              HasSubstr("No record of this case is kept."));
  EXPECT_THAT(
      RenderCaseSection(failed, std::nullopt,
                        {.id = "case-3", .crash_test = "/c/report.html"}),
      AllOf(HasSubstr("Its report is <code>/c/report.html</code>."),
            Not(HasSubstr("No record"))));
  EXPECT_THAT(
      RenderCaseSection(
          failed, std::nullopt,
          {.id = "case-3", .unreadable_record = "record.jsonl:7: it was cut"}),
      HasSubstr("cannot be read, so there is no picture and no timeline: "
                "record.jsonl:7: it was cut."));
  EXPECT_THAT(RenderCaseSection(failed, SampleRecord(),
                                {.id = "case-3", .most_picture_bytes = 10}),
              HasSubstr("The picture is left out"));
}

TEST(CoverageMatrixTest, ShowsFiredFaultsAndHoles) {
  CoverageMatrix matrix({.kinds = {"hang"}, .points = {"ckpt.rename"}});
  matrix.Add(SampleRecord());
  matrix.Add(SampleRecord());
  const std::string html = matrix.Render();
  EXPECT_THAT(html, HasSubstr("1 of 4 pairs of 2 fault kinds and 2 fault"));
  EXPECT_THAT(html, HasSubstr("title=\"crash at step.end: 2 of 2 fired\">2<"));
  EXPECT_EQ(CountOf(html, "<td class=\"hole\">"), 3u);
  EXPECT_EQ(FirstUnbalancedTag(html), "");
}

TEST(CoverageMatrixTest, HidesRowsWithoutAFault_IfOneCaseRan) {
  CoverageMatrix matrix({.kinds = {"hang"}, .points = {"ckpt.rename"}});
  matrix.Add(SampleRecord());
  const std::string html = matrix.Render();
  EXPECT_THAT(html, HasSubstr("step.end</th>"));
  EXPECT_THAT(html, Not(HasSubstr("ckpt.rename</th>")));
  EXPECT_THAT(html, HasSubstr("1 fault point at which no fault is planned is "
                              "not shown"));
  matrix.Add(SampleRecord());
  EXPECT_THAT(matrix.Render(), HasSubstr("ckpt.rename</th>"));
}

TEST(CoverageMatrixTest, PointWithoutAFaultHasNoTotal) {
  CoverageMatrix matrix({.kinds = {"crash"}, .points = {"idle", "tried"}});
  matrix.Add("crash", "tried", 1, 0);
  const std::string html = matrix.Render();
  EXPECT_THAT(html, HasSubstr("idle</th><td class=\"hole\"></td>"
                              "<td class=\"total\"></td>"));
  EXPECT_THAT(html, HasSubstr("none fired\">0</td><td class=\"total\">0</td>"));
}

TEST(CoverageMatrixTest, MarksFaultsThatNeverFired) {
  Record record = SampleRecord();
  record.incarnations[2].events.pop_back();
  CoverageMatrix matrix({});
  matrix.Add(record);
  EXPECT_THAT(matrix.Render(), HasSubstr("title=\"1 planned, none fired\">0<"));
  EXPECT_THAT(matrix.Render(), HasSubstr("0</span>: some are planned, and none "
                                         "fired. <span class=\"key hole\""));
}

}  // namespace
}  // namespace gauntlet
