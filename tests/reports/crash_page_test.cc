#include "reports/crash_test/crash_page.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/crash_test/crash_junit.h"
#include "reports/crash_test/crash_strip.h"
#include "tests/reports/markup_check.h"

namespace gauntlet {
namespace {

using testing::HasSubstr;
using testing::Not;

void Add(CrashTestResult& result, CrashFault fault, uint64_t operation,
         RecoveryVerdict verdict) {
  CrashTrial trial;
  trial.fault = fault;
  trial.operation = operation;
  trial.id = std::string(CrashFaultName(fault)) + "-" +
             std::to_string(result.trials.size());
  trial.point = "killed after write [0, 4) of <model>";
  trial.last_line = "ValueError: \"bad\" & cut";
  trial.tail = {"Traceback", trial.last_line};
  result.trials.push_back(trial);
  result.verdicts.push_back({verdict, "reason of " + trial.id});
}

CrashTestResult SampleTest() {
  CrashTestResult result;
  result.command = "python train.py '{out}'";
  result.resume_command = result.command;
  result.operations = 40;
  result.crash_points = 30;
  result.controls = {{"second run", true, "equal results"},
                     {"stop and resume", false, "model: 1 instead of 2"}};
  Add(result, CrashFault::kKill, 3, RecoveryVerdict::kRecovered);
  Add(result, CrashFault::kKill, 9, RecoveryVerdict::kFails);
  Add(result, CrashFault::kPowerLoss, 9, RecoveryVerdict::kLostWork);
  Add(result, CrashFault::kPowerLoss, 9, RecoveryVerdict::kResumePointUnknown);
  for (const size_t i : {size_t{1}, size_t{2}}) {
    result.findings.push_back({.verdict = result.verdicts[i].verdict,
                               .title = "title of a finding",
                               .reason = result.verdicts[i].reason,
                               .trials = {i}});
  }
  return result;
}

TEST(CrashPageTest, State_CountsForEachFaultWithTheSameDirectory) {
  CrashTestResult result = SampleTest();
  result.trials[1].equal_crashes = {
      {.id = "ext4-3-data0", .fault = CrashFault::kPowerLoss, .operation = 3}};
  result.verdicts[1].equal_crashes = {RecoveryVerdict::kFails};
  const std::string page = RenderCrashPage(result);
  EXPECT_THAT(page, HasSubstr("the same directories: ext4-3-data0 (fails)"));
  EXPECT_THAT(page, HasSubstr("power at operation 3: 1 fails"));
  EXPECT_THAT(page, HasSubstr("kill at operation 9: 1 fails"));
  EXPECT_THAT(RenderCrashJunit(result),
              HasSubstr("the same directories: ext4-3-data0 (fails)"));
}

TEST(CrashPageTest, NamesFindingsWithCommandsToRepeatThem) {
  CrashTestResult result = SampleTest();
  result.trials[1].in_place_files = {"<ckpt>"};
  const std::string page = RenderCrashPage(result);
  EXPECT_EQ(FirstUnbalancedTag(page), "");
  EXPECT_THAT(page, HasSubstr("<p>Advice: &lt;ckpt&gt; is written in place"));
  EXPECT_THAT(page, HasSubstr("2 findings in 4 crash states"));
  EXPECT_THAT(page, HasSubstr("sh findings/1/repro.sh"));
  EXPECT_THAT(page, HasSubstr("reason of kill-1"));
  EXPECT_THAT(page, HasSubstr("write [0, 4) of &lt;model&gt;"));
  EXPECT_THAT(page, Not(HasSubstr("<model>")));
  EXPECT_THAT(page, HasSubstr("differs: model: 1 instead of 2"));
}

TEST(CrashPageTest, GivesTheReasonForUntriedStates) {
  CrashTestResult result = SampleTest();
  EXPECT_THAT(RenderCrashPage(result), Not(HasSubstr("states are left")));
  result.trials_end = TrialsEnd::kError;
  EXPECT_THAT(RenderCrashPage(result),
              HasSubstr("<p>More crash states are left: an error ended the "
                        "test.</p>"));
}

TEST(CrashPageTest, LongTablesAreCut) {
  CrashTestResult result = SampleTest();
  while (result.trials.size() < kMostCrashRows + 5)
    Add(result, CrashFault::kTornWrite, 5, RecoveryVerdict::kRecovered);
  const std::string page = RenderCrashPage(result);
  EXPECT_THAT(page, HasSubstr("5 more are in result.json"));
  // Findings come first, so they are not cut.
  EXPECT_LT(page.find("reason of power-2"), page.find("reason of kill-0"));
}

TEST(CrashPageTest, GivesTheReason_WhenThereIsNoVerdict) {
  CrashTestResult result;
  result.no_verdict = "two undisturbed runs <differ>";
  const std::string page = RenderCrashPage(result);
  EXPECT_EQ(FirstUnbalancedTag(page), "");
  EXPECT_THAT(page, HasSubstr("two undisturbed runs &lt;differ&gt;"));
}

TEST(CrashStripTest, MarksHaveAPartForEachVerdict) {
  const std::string strip = RenderCrashStrip(SampleTest());
  EXPECT_THAT(strip, HasSubstr("power at operation 9: 1 resume-point-unknown 1 "
                               "lost-work"));
  EXPECT_THAT(strip, HasSubstr("class=\"inconclusive\""));
  EXPECT_EQ(RenderCrashStrip({}), "");
}

TEST(CrashJunitTest, FindingsAreFailures) {
  const std::string xml = RenderCrashJunit(SampleTest());
  EXPECT_THAT(xml, HasSubstr("tests=\"4\" failures=\"2\" errors=\"0\" "
                             "skipped=\"1\""));
  EXPECT_THAT(xml, HasSubstr("<failure message=\"reason of kill-1\" "
                             "type=\"fails\">killed after write [0, 4) of "
                             "&lt;model&gt;"));
}

TEST(CrashJunitTest, NoVerdictIsAnError) {
  CrashTestResult result;
  result.no_verdict = "differs";
  EXPECT_THAT(RenderCrashJunit(result),
              HasSubstr("<error message=\"differs\" type=\"no-verdict\">"));
}

}  // namespace
}  // namespace gauntlet
