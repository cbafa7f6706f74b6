// Parts of a case's section: differing values, logs, timeline.
#include <regex>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/record/text/value_text.h"
#include "reports/html/case_section.h"
#include "reports/html/difference_table.h"
#include "reports/html/log_tails.h"
#include "tests/reports/markup_check.h"
#include "tests/reports/sample_record.h"
#include "tests/reports/sample_result.h"

namespace gauntlet {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

CaseResult Failed() { return SampleResult().cases[3]; }

TEST(DifferenceTableTest, ShowsValuesWithBitsAndDistance) {
  const std::string html = RenderDifferences(Failed());
  EXPECT_EQ(FirstUnbalancedTag(html), "");
  EXPECT_THAT(html, HasSubstr("the state loaded at step 50, worker 0: 2 of 12 "
                              "state entries differ<"));
  EXPECT_THAT(html,
              HasSubstr("<code>rng/key</code></th><td>scalar</td>"
                        "<td><code>18446744073709551614 (0xfffffffffffffffe)"
                        "</code></td><td><code>1 (0x0000000000000001)</code>"
                        "</td><td class=\"number\">–</td>"));
  EXPECT_THAT(html, HasSubstr("<td>[3,17]</td><td><code>1.23 (0x3f9d70a4)"
                              "</code></td><td><code>1.2299999 (0x3f9d70a3)"
                              "</code></td><td class=\"number\">1</td>"));
}

TEST(DifferenceTableTest, CountsUnlistedDifferences) {
  CaseResult failed = Failed();
  failed.differences[0].differing = 5;
  const std::string html = RenderDifferences(failed);
  EXPECT_THAT(html, HasSubstr("in all 512 of 4,096 elements differ"));
  EXPECT_THAT(html, HasSubstr("3 further differences not listed"));
  EXPECT_THAT(html,
              HasSubstr("losses of steps, evaluations and epochs: 30 of 40 "
                        "differ from the reference run's (equal losses of a "
                        "step count once); the first 1 are"));
}

TEST(DifferenceTableTest, StatesOfARealCaseAreSimulated) {
  constexpr const char* kNote = "a repetition of the case in the simulated";
  CaseResult failed = Failed();
  failed.world = "sim";
  EXPECT_THAT(RenderDifferences(failed), Not(HasSubstr(kNote)));
  failed.world = "real";
  EXPECT_THAT(RenderDifferences(failed),
              AllOf(HasSubstr(kNote), HasSubstr("Losses are those of this")));
  failed.differences.clear();
  EXPECT_THAT(RenderDifferences(failed), Not(HasSubstr(kNote)));
}

TEST(DifferenceTableTest, NamesEqualWorkers_AndNoDistanceOfSamples) {
  CaseResult failed = Failed();
  failed.differences[0].alike = {1, 2};
  failed.differences[0].tensors[1].name = "samples of the batch";
  const std::string html = RenderDifferences(failed);
  EXPECT_THAT(html, HasSubstr("differ, the same on workers 1, 2<"));
  EXPECT_THAT(html, Not(HasSubstr("class=\"number\">1</td>")));
}

TEST(DifferenceTableTest, ShowsFewValuesOfSamples_AlsoOfEarlierVersions) {
  for (const char* name : {"samples of the batch", "rows of the batch"}) {
    CaseResult failed = Failed();
    DifferingTensor& samples = failed.differences[0].tensors[1];
    samples.name = name;
    samples.first.resize(20, samples.first[0]);
    const std::string html = RenderDifferences(failed);
    EXPECT_EQ(CountOf(html, "<td>[3,17]</td>"), 5u) << name;
    EXPECT_THAT(html, HasSubstr("in all 512 of 4,096 elements differ"));
  }
}

TEST(DifferenceTableTest, ShowsLosses) {
  EXPECT_THAT(RenderDifferences(Failed()),
              HasSubstr("step 51</th><td>worker 1, incarnation 2</td>"
                        "<td><code>2.3025851 (0x40135d8e)</code></td>"));
}

TEST(DifferenceTableTest, TensorOfAnotherShapeIsNamed) {
  CaseResult failed = Failed();
  failed.differences[0].tensors = {
      {.name = "a", .mismatch = "U32 [2] against F32 [2]"}};
  EXPECT_THAT(RenderDifferences(failed),
              HasSubstr("other type or shape: U32 [2] against F32 [2]"));
}

TEST(DifferenceTableTest, IsEmpty_IfNothingDiffers) {
  EXPECT_EQ(RenderDifferences(SampleResult().cases[0]), "");
}

TEST(ValueTextTest, FloatIsADecimalWithItsBits) {
  EXPECT_EQ(FloatText(0x40135d8e), "2.3025851 (0x40135d8e)");
  EXPECT_EQ(FloatText(0x7fc00000), "nan (0x7fc00000)");
  EXPECT_EQ(FloatText(0), "0 (0x00000000)");
}

std::string Lines(int count) {
  std::string text;
  for (int i = 1; i <= count; ++i) {
    text += "line " + std::to_string(i) + "\n";
  }
  return text;
}

LogTail Log(const std::string& text) {
  return {.name = "worker 0, incarnation 1", .bytes = text.size(), .end = text};
}

TEST(LogTailsTest, ShowsTheLastLines) {
  const std::string html = RenderLogTails({Log(Lines(134))});
  EXPECT_EQ(FirstUnbalancedTag(html), "");
  EXPECT_THAT(html,
              HasSubstr("worker 0, incarnation 1: the last 20 lines of "));
  EXPECT_THAT(html, HasSubstr(">line 115\n"));
  EXPECT_THAT(html, HasSubstr("line 134\n</pre>"));
  EXPECT_THAT(html, Not(HasSubstr("line 114\n")));
}

TEST(LogTailsTest, PartOfALineIsLeftOut) {
  LogTail log = Log("rtial\nwhole\n");
  log.bytes = 1'000'000;
  const std::string html = RenderLogTails({log});
  EXPECT_THAT(html, AllOf(HasSubstr("whole"), Not(HasSubstr("rtial"))));
}

TEST(LogTailsTest, NamesEmptyLogs) {
  EXPECT_THAT(RenderLogTails({Log(""), Log("a\n")}),
              HasSubstr("Empty: worker 0, incarnation 1."));
  EXPECT_EQ(RenderLogTails({}), "");
}

TEST(LogTailsTest, TextIsEscapedAndItsSizeBounded) {
  std::vector<LogTail> logs(300, Log(HostileText() + Lines(30)));
  for (LogTail& log : logs) log.end += std::string(1'000'000, '<');
  const std::string html = RenderLogTails(logs);
  EXPECT_EQ(FirstUnbalancedTag(html), "");
  EXPECT_THAT(html, Not(HasSubstr("<script")));
  EXPECT_LT(html.size(), 600'000u);
  EXPECT_THAT(html, HasSubstr("284 further logs not shown"));
}

std::string SectionWith(const std::string& scenario) {
  return RenderCaseSection(Failed(), SampleRecord(),
                           {.id = "case-3", .scenario = scenario});
}

TEST(CaseSectionTest, HasTheScenarioToRepeatTheCaseWith) {
  const std::string html = SectionWith("name: a\n  do: '<b>'\n");
  EXPECT_EQ(FirstUnbalancedTag(html), "");
  EXPECT_THAT(html,
              HasSubstr("<summary>Scenario, 2 lines</summary>\n"
                        "<p>Save it as <code>torn-manifest.yaml</code> "
                        "and run the command; it needs nothing else.</p>"));
  EXPECT_THAT(html, HasSubstr("gauntlet run torn-manifest.yaml --world real<"));
  EXPECT_THAT(html, HasSubstr(">name: a\n  do: &#39;&lt;b&gt;&#39;\n</pre>"));
}

TEST(CaseSectionTest, LineNumbersAreOfTheOriginalFile) {
  CaseResult failed = Failed();
  failed.file = "a.yaml";
  failed.summary.next = "set max: 2 under expect (a.yaml:15)";
  const CaseSectionOptions options = {.id = "case-3", .scenario = "name: a\n"};
  EXPECT_THAT(RenderCaseSection(failed, std::nullopt, options),
              HasSubstr("Line numbers above are those of the original file, "
                        "<code>a.yaml</code>."));
  failed.summary.next.clear();
  EXPECT_THAT(RenderCaseSection(failed, std::nullopt, options),
              Not(HasSubstr("Line numbers above")));
}

TEST(CaseSectionTest, ScenarioWithATrainerNeedsTheFilesOfTheProgram) {
  for (const char* scenario :
       {"name: a\ntrainer:\n  command: [./a]\n", "trainer: {}\nname: a\n"}) {
    EXPECT_THAT(SectionWith(scenario),
                AllOf(HasSubstr("and run the command there; it needs the files "
                                "of the program too.</p>"),
                      Not(HasSubstr("nothing else"))));
  }
  EXPECT_THAT(SectionWith("name: a\ndescription: 'no trainer: here'\n"),
              HasSubstr("nothing else"));
}

TEST(CaseSectionTest, GivesTheReason_WhenAScenarioIsLeftOut) {
  EXPECT_THAT(SectionWith(""), HasSubstr("The scenario is left out: its file "
                                         "is not kept."));
  const std::string html = SectionWith(std::string(100'000, 'a'));
  EXPECT_THAT(html, HasSubstr("The scenario is left out: it has 100,000 "
                              "bytes, and the limit is 49,152."));
  EXPECT_THAT(html, Not(HasSubstr("aaa")));
}

TEST(CaseSectionTest, GivesTheReason_WhenNoScenarioExists) {
  const std::string html =
      RenderCaseSection(Failed(), std::nullopt,
                        {.id = "case-3", .why_no_scenario = "no key for it"});
  EXPECT_THAT(html, HasSubstr("The scenario is left out: no key for it."));
}

TEST(CaseSectionTest, ShowsRulesConsequencesTimelineAndLogs) {
  const std::string html =
      RenderCaseSection(Failed(), SampleRecord(),
                        {.id = "case-3", .logs = {Log("last words\n")}});
  EXPECT_EQ(FirstUnbalancedTag(html), "");
  for (const char* part :
       {"Rule: every digest and loss of every incarnation equals",
        "It follows from the cause: each later state",
        "Differences from the reference run", "<details class=\"timeline\">",
        "crash fires: crash worker 1 at step.end", "last words\n"}) {
    EXPECT_THAT(html, HasSubstr(part));
  }
}

// Adds 2,000 events that do not repeat before the last one of worker 0.
Record LongRecord() {
  Record record = SampleRecord();
  std::vector<RecordEvent>& events = record.incarnations[1].events;
  for (size_t i = 0; i < 2'000; ++i) {
    std::string name;
    for (size_t bit = 1; bit < 4'096; bit *= 2) {
      name += (i & bit) != 0 ? 'a' : 'b';
    }
    events.insert(events.end() - 1, {.kind = RecordKind::kRejected,
                                     .t_ns = events.back().t_ns,
                                     .path = name});
  }
  return record;
}

TEST(CaseSectionTest, LongTimelineHasItsBeginAndItsEnd) {
  CaseResult failed = Failed();
  failed.directory = "/runs/7f3a/torn.sim";
  const std::string html = RenderCaseSection(failed, LongRecord(), {.id = "a"});
  EXPECT_EQ(FirstUnbalancedTag(html), "");
  EXPECT_LT(html.size(), 600'000u);
  const size_t cut = html.find("The timeline is cut here: ");
  ASSERT_NE(cut, html.npos);
  EXPECT_LT(html.find("crash fires: crash worker 1 at step.end"), cut);
  EXPECT_NE(html.find("launcher exits with 0, 1 restart", cut), html.npos);
  EXPECT_TRUE(std::regex_search(
      html,
      std::regex("cut here: ([0-9,]{3,5}) rows with \\1 events left out")))
      << html.substr(cut, 100);
  EXPECT_NE(html.find("<code>gauntlet show /runs/7f3a/torn.sim</code> prints "
                      "all of them.",
                      cut),
            html.npos);
}

}  // namespace
}  // namespace gauntlet
