#include "harness/cli/run/run_progress.h"

#include <chrono>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/cli/terminal/set_clock.h"
#include "tests/harness/run/small_cases.h"

namespace gauntlet {
namespace {

using std::chrono::seconds;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::Optional;

SuiteItem Item(const std::string& name, WorldKind world = WorldKind::kReal) {
  SuiteItem item = {.world = world};
  item.one.name = name;
  return item;
}

CaseResult Ended(const std::string& name, double took,
                 VerdictKind kind = VerdictKind::kPass) {
  return {.name = name,
          .world = "real",
          .seconds = took,
          .verdict = {.kind = kind}};
}

RunResult Earlier(const std::vector<CaseResult>& cases) {
  RunResult result;
  result.cases = cases;
  return result;
}

TerminalStyle Terminal(int columns) {
  return {ColorChoice::kOff,
          {.is_terminal = true, .utf8 = true, .columns = columns}};
}

TEST(RunTimeLeftTest, IsUnknownBeforeTheFirstCaseOfAFirstRun) {
  RunTimeLeft left({Item("a"), Item("b")}, 1, {});
  EXPECT_EQ(left.Seconds(Time()), std::nullopt);
  left.Begin(Item("a"), Time());
  EXPECT_EQ(left.Seconds(Time()), std::nullopt);
}

TEST(RunTimeLeftTest, TakesTheMeanSoFarWithoutAnEarlierRun) {
  RunTimeLeft left({Item("a"), Item("b"), Item("c")}, 1, {});
  left.Begin(Item("a"), Time());
  left.End(Ended("a", 4));
  EXPECT_THAT(left.Seconds(Time()), Optional(8.0));
}

TEST(RunTimeLeftTest, TakesTheTimesOfTheEarlierRun) {
  RunTimeLeft left({Item("a"), Item("b")}, 1,
                   Earlier({Ended("a", 10), Ended("b", 2)}));
  EXPECT_THAT(left.Seconds(Time()), Optional(12.0));
  left.Begin(Item("a"), Time());
  EXPECT_THAT(left.Seconds(Time() + seconds(3)), Optional(9.0));
  EXPECT_THAT(left.Seconds(Time() + seconds(30)), Optional(2.0))
      << "a case that takes longer adds nothing";
  left.End(Ended("a", 30));
  EXPECT_THAT(left.Seconds(Time()), Optional(2.0));
}

TEST(RunTimeLeftTest, NewCaseTakesTheMedianOfTheEarlierRun) {
  const RunTimeLeft left(
      {Item("a"), Item("new")}, 1,
      Earlier({Ended("a", 1), Ended("b", 5), Ended("c", 90)}));
  EXPECT_THAT(left.Seconds(Time()), Optional(6.0));
}

TEST(RunTimeLeftTest, EarlierRunOfOtherCasesIsNoBasis) {
  RunTimeLeft left({Item("new"), Item("b"), Item("b", WorldKind::kSimulated)},
                   1, Earlier({Ended("a", 126)}));
  EXPECT_EQ(left.Seconds(Time()), std::nullopt);
  left.Begin(Item("new"), Time());
  EXPECT_EQ(left.Seconds(Time()), std::nullopt);
}

TEST(RunTimeLeftTest, TimeOfAnInconclusiveCaseIsNoBasis) {
  const RunTimeLeft left({Item("a")}, 1,
                         Earlier({Ended("a", 126, VerdictKind::kError)}));
  EXPECT_EQ(left.Seconds(Time()), std::nullopt);
}

TEST(RunTimeLeftTest, JobsShareTheTime) {
  const RunTimeLeft left({Item("a"), Item("b")}, 2,
                         Earlier({Ended("a", 10), Ended("b", 2)}));
  EXPECT_THAT(left.Seconds(Time()), Optional(6.0));
}

TEST(RunTimeLeftTest, WorldsHaveTimesOfTheirOwn) {
  RunTimeLeft left({Item("a"), Item("a", WorldKind::kSimulated)}, 1, {});
  left.Begin(Item("a"), Time());
  left.End(Ended("a", 4));
  EXPECT_EQ(left.Seconds(Time()), std::nullopt);
}

TEST(RenderRunStatusTest, NamesFailedAndRunningCasesAndTheTimeLeft) {
  const RunStatus status = {.cases = 260,
                            .counts = {.passed = 31, .flaky = 1, .failed = 2},
                            .running = {"crash-in-a-shard", "torn-manifest"},
                            .seconds_left = 40.5};
  EXPECT_EQ(RenderRunStatus(status, 200, Terminal(200)),
            "[ 34/260] 1 flaky, 2 failed  running: crash-in-a-shard, "
            "torn-manifest  0:41 left");
  EXPECT_EQ(RenderRunStatus(status, 61, Terminal(61)),
            "[ 34/260] 1 flaky, 2 failed  running: crash-in-a-…  0:41 left");
  EXPECT_EQ(RenderRunStatus(status, 40, Terminal(40)),
            "[ 34/260] 1 flaky, 2 failed  0:41 left");
}

TEST(RenderRunStatusTest, OmitsUnknownParts) {
  EXPECT_EQ(RenderRunStatus({.cases = 5}, 80, Terminal(80)), "[0/5]");
}

TEST(RenderRunStatusTest, NamesCannotSteerTheTerminal) {
  EXPECT_THAT(RenderRunStatus({.cases = 5, .running = {"\x1b[2J-long-name"}},
                              80, Terminal(80)),
              Not(HasSubstr("\x1b")));
}

class RunProgressTest : public testing::Test {
 protected:
  Console MakeConsole(const TerminalFacts& out, const TerminalFacts& err) {
    return {out_, err_, TerminalStyle(ColorChoice::kOff, out),
            TerminalStyle(ColorChoice::kOff, err)};
  }
  static constexpr TerminalFacts kTerminal = {.is_terminal = true};

  SetClock clock_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(RunProgressTest, ClearsTheLineBeforeOutput) {
  Console console = MakeConsole({}, kTerminal);
  RunProgress progress(clock_, console, ProgressChoice::kAuto, 2,
                       RunTimeLeft({Item("a"), Item("b")}, 1, {}));
  progress.Begin(Item("a"));
  EXPECT_EQ(err_.str(), "\r\x1b[K[0/2]  running: a");
  progress.Print("PASS a\n");
  EXPECT_EQ(out_.str(), "PASS a\n");
  EXPECT_THAT(err_.str(), EndsWith("running: a\r\x1b[K"));
}

TEST_F(RunProgressTest, NamesTheReferenceRun) {
  Console console = MakeConsole({}, kTerminal);
  RunProgress progress(clock_, console, ProgressChoice::kAuto, 1,
                       RunTimeLeft({Item("a")}, 1, {}));
  progress.Begin(Item("a"));
  const auto line_of = [&](CasePhase phase) {
    clock_.now += seconds(1);
    progress.SetPhase(Item("a"), phase);
    return err_.str();
  };
  EXPECT_THAT(line_of(CasePhase::kReference),
              EndsWith("[0/1]  running: reference run of a"));
  EXPECT_THAT(line_of(CasePhase::kRun), EndsWith("[0/1]  running: a"));
}

TEST_F(RunProgressTest, TracksThePhaseOfACaseWithoutATerminal) {
  Console console = MakeConsole({}, {});
  RunProgress progress(clock_, console, ProgressChoice::kAuto, 1,
                       RunTimeLeft({Item("a")}, 1, {}));
  progress.Begin(Item("a"));
  progress.SetPhase(Item("a"), CasePhase::kReference);
  EXPECT_EQ(progress.PhaseOf(Item("a")), CasePhase::kReference);
  EXPECT_THAT(ActivityOf(CasePhase::kReference), HasSubstr("reference run"));
  progress.SetPhase(Item("a"), CasePhase::kRun);
  EXPECT_EQ(progress.PhaseOf(Item("a")), CasePhase::kRun);
}

TEST_F(RunProgressTest, CountsDownBetweenCases) {
  Console console = MakeConsole({}, kTerminal);
  RunProgress progress(clock_, console, ProgressChoice::kAuto, 1,
                       RunTimeLeft({Item("a")}, 1, Earlier({Ended("a", 10)})));
  progress.Begin(Item("a"));
  clock_.now += seconds(4);
  progress.Redraw();
  EXPECT_THAT(err_.str(), EndsWith("\r\x1b[K[0/1]  running: a  0:06 left"));
  progress.Stop();
  clock_.now += seconds(1);
  progress.Redraw();
  EXPECT_THAT(err_.str(), EndsWith("0:06 left\r\x1b[K"));
}

// The output of two separate streams could overtake each other.
TEST_F(RunProgressTest, WritesToOneStream_IfBothAreTerminals) {
  Console console = MakeConsole(kTerminal, kTerminal);
  RunProgress progress(clock_, console, ProgressChoice::kAuto, 1,
                       RunTimeLeft({Item("a")}, 1, {}));
  progress.Begin(Item("a"));
  progress.PrintMessage("SLOW a\n");
  progress.End(Ended("a", 1, VerdictKind::kFail));
  progress.Print("FAIL a\n");
  EXPECT_EQ(out_.str(), "\r\x1b[K[0/1]  running: a\r\x1b[KSLOW a\nFAIL a\n");
  EXPECT_EQ(err_.str(), "");
  EXPECT_EQ(progress.counts().failed, 1u);
}

TEST_F(RunProgressTest, DrawsNothing_WithoutATerminalOrIfOff) {
  for (const ProgressChoice choice :
       {ProgressChoice::kAuto, ProgressChoice::kOff}) {
    const bool off = choice == ProgressChoice::kOff;
    Console console = MakeConsole({}, off ? kTerminal : TerminalFacts());
    RunProgress progress(clock_, console, choice, 1,
                         RunTimeLeft({Item("a")}, 1, {}));
    progress.Begin(Item("a"));
    progress.Redraw();
    EXPECT_EQ(err_.str(), "");
  }
}

}  // namespace
}  // namespace gauntlet
