#include "harness/cli/explore/explore_progress.h"

#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/cli/explore/explore_interruption.h"
#include "tests/engine/cli/terminal/set_clock.h"

namespace gauntlet {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;

CampaignReport SampleReport() {
  CampaignReport report;
  report.cases = 1204;
  report.seconds = 10;
  report.failed = 2;
  report.space.points = {Point::kStepBegin, Point::kStepEnd};
  return report;
}

TEST(StatusTest, BeginsWithCasesFailuresAndTimeLeft) {
  const auto parts =
      StatusOf(SampleReport(), {.time = seconds(60), .cases = {}});
  ASSERT_GE(parts.size(), 5u);
  EXPECT_EQ(parts[0], "1,204 cases");
  EXPECT_EQ(parts[1], "2 failed");
  EXPECT_EQ(parts[2], "0:50 left");
  EXPECT_EQ(parts[3], "120/s");
  EXPECT_EQ(parts[4], "points 0/2");
}

TEST(StatusTest, RemainingTime_FollowsFromTheRateSoFar) {
  const auto parts = StatusOf(SampleReport(), {.time = {}, .cases = 13244});
  EXPECT_EQ(parts[0], "1,204 of 13,244 cases");
  EXPECT_EQ(parts[2], "1:40 left");
}

TEST(StatusTest, NothingIsLeftToSayWithoutALimit) {
  for (const std::string& part : StatusOf(SampleReport(), {})) {
    EXPECT_EQ(part.find(" left"), part.npos) << part;
  }
}

TEST(StatusTest, CrashStatesAreCountedTheSameWay) {
  const CrashStateReport report = {
      .counts = {{.points = 31, .images_distinct = 5000}}, .images_failed = 1};
  EXPECT_THAT(StatusOf(report, 10, {.time = seconds(15), .cases = {}}),
              ElementsAre("5,000 crash states", "1 failed", "0:05 left",
                          "500/s", "31 crash points", "0:10 so far"));
}

TEST(FitStatusTest, DropsWholePartsFromTheEnd) {
  const std::vector<std::string> parts = {"1,204 cases", "2 failed", "0:50"};
  EXPECT_EQ(FitStatus(parts, 100), "1,204 cases  2 failed  0:50");
  EXPECT_EQ(FitStatus(parts, 26), "1,204 cases  2 failed");
  EXPECT_EQ(FitStatus(parts, 27), "1,204 cases  2 failed  0:50");
  EXPECT_EQ(FitStatus(parts, 5), "1,204");
}

TEST(ExploreProgressTest, IsALineEachTenSecondsOffATerminal) {
  SetClock clock;
  std::ostringstream out;
  ExploreProgress progress(clock, out, TerminalStyle(ColorChoice::kOff, {}));
  EXPECT_FALSE(progress.IsDue());
  clock.now += milliseconds(9999);
  EXPECT_FALSE(progress.IsDue());
  clock.now += milliseconds(1);
  ASSERT_TRUE(progress.IsDue());
  progress.Show({"a", "b"});
  EXPECT_FALSE(progress.IsDue());
  progress.Clear();
  EXPECT_EQ(out.str(), "a  b\n");
}

TEST(ExploreProgressTest, IsRewrittenOnATerminalAndFitsIt) {
  SetClock clock;
  std::ostringstream out;
  ExploreProgress progress(
      clock, out,
      TerminalStyle(ColorChoice::kOff, {.is_terminal = true, .columns = 10}));
  EXPECT_FALSE(progress.IsDue());
  clock.now += milliseconds(100);
  ASSERT_TRUE(progress.IsDue());
  progress.Show({"abcd", "efg", "h"});
  progress.Clear();
  EXPECT_EQ(out.str(), "\r\x1b[Kabcd  efg\r\x1b[K");
}

TEST(CommandToResumeTest, ResumesAtTheFirstCaseThatIsNotDone) {
  CampaignReport report = SampleReport();
  report.next_case = 1204;
  report.end = CampaignEnd::kInterrupted;
  EXPECT_EQ(CommandToResume({}, 7, report),
            "gauntlet explore --seed 7 --first-case 1204");
  const ExploreCommand command = {.mode = ExploreMode::kRandom,
                                  .time = seconds(60),
                                  .time_given = true,
                                  .cases = 2000,
                                  .first_case = 1000,
                                  .shard = {.index = 2, .count = 4}};
  EXPECT_EQ(CommandToResume(command, 7, report),
            "gauntlet explore --mode random --seed 7 --first-case 1204 "
            "--shard 2/4 --cases 1796 --time 50s");
  report.end = CampaignEnd::kTime;
  EXPECT_THAT(CommandToResume(command, 7, report), HasSubstr("--time 1m"));
}

TEST(CommandToResumeTest, KeepsTheFolderOfTheFindings) {
  CampaignReport report = SampleReport();
  report.next_case = 12;
  const ExploreCommand command = {.out_directory = "my findings"};
  EXPECT_EQ(CommandToResume(command, 7, report),
            "gauntlet explore --seed 7 --first-case 12 --out 'my findings'");
  report.next_case = 0;
  EXPECT_EQ(CommandToResume(command, 7, report), "gauntlet explore --seed 7");
}

TEST(CommandToResumeTest, SweepsBeginAgain) {
  EXPECT_EQ(CommandToResume({.mode = ExploreMode::kSweep}, 7, SampleReport()),
            "gauntlet explore --mode sweep --seed 7");
}

TEST(RenderInterruptionTest, NamesStoredResultsAndTheCommandToResume) {
  EXPECT_EQ(RenderInterruption("1,204 cases",
                               {.findings = 1,
                                .directory = "runs/7/findings",
                                .report = "runs/7/report.html"},
                               "resume with: gauntlet explore"),
            "interrupted after 1,204 cases: 1 finding stored in "
            "runs/7/findings, report in runs/7/report.html; resume with: "
            "gauntlet explore\n");
  EXPECT_THAT(RenderInterruption("5 cases", {}, "x"),
              HasSubstr("5 cases: nothing was found; x"));
}

}  // namespace
}  // namespace gauntlet
