#include "reports/terminal.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/case_words.h"
#include "reports/failures.h"
#include "tests/reports/markup_check.h"
#include "tests/reports/sample_result.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr char kGolden[] =
    R"(4 scenarios, 4 cases, run 7f3a, seed 42
PASS         real crash-mid-save[workers=2]   1.9s  1 fault, 1 restart, resumed from step 50, 1 step recomputed
SKIP         sim  gpu-reset                         needs a GPU, found 0
INCONCLUSIVE sim  disk-full                   14ms  full never fired: errno any at ckpt.begin
FAIL         real torn-manifest               2.2s  trajectory: after step 51 (worker 1, incarnation 2): state aa, expected bb; also restarts

INCONCLUSIVE disk-full (sim)   scenarios/torn.yaml:30
  reason    full never fired: errno any at ckpt.begin

FAIL torn-manifest (real)   scenarios/torn.yaml:12
  cause     the state loaded at step 50 differs: tensor rng/key
  events    worker 0, incarnation 1  step 50  tear: torn_write
            worker 0, incarnation 2  resumed from step 50
  broken    trajectory (state-digest): after step 51 (worker 1, incarnation 2): state aa, expected bb
            trajectory: 6 more violations
            trajectory follows: each later state and loss is computed from what differs
  expected  restarts: expected exactly 1, found 2
  replay    gauntlet replay 7f3a/torn-manifest
  timeline  /runs/7f3a/timeline.json.gz  (ui.perfetto.dev)

4 cases in 11.8s: 1 passed, 1 failed, 1 inconclusive, 1 skipped
)";

TEST(CaseWordsTest, FactsThatDoNotApplyAreLeftOut) {
  EXPECT_EQ(FactsText({}), "0 faults");
  EXPECT_EQ(FactsText({.faults_fired = 2,
                       .restarts = 1,
                       .resumed_from = 5,
                       .max_recomputed_steps = 11,
                       .distinct_recomputed_steps = 11,
                       .recomputations = 11,
                       .failed_saves = 1,
                       .refused = true}),
            "2 faults, 1 restart, resumed from step 5, 11 steps recomputed, 1 "
            "failed save, refused to train");
}

TEST(TerminalTest, FailureWithoutAViolationHasItsReason) {
  const CaseResult result = {
      .name = "a",
      .world = "real",
      .verdict = {.kind = VerdictKind::kFail,
                  .reason = "the worlds end differently"}};
  EXPECT_THAT(RenderFailure(result, Colour::kOff),
              HasSubstr("\n  reason    the worlds end differently\n"));
}

TEST(TerminalTest, ReasonIsNotRepeated_IfAFindingHasItsText) {
  CaseResult result = {.name = "a",
                       .world = "sim",
                       .verdict = {.kind = VerdictKind::kError,
                                   .reason = "full never fired",
                                   .invariants = {{.invariant = "fault-fired",
                                                   .instances = 1,
                                                   .violations = 1}}}};
  std::vector<Finding>& findings = result.verdict.invariants[0].findings;
  findings = {{.invariant = "fault-fired",
               .name = "never-fired",
               .message = "full never fired"}};
  EXPECT_THAT(RenderFailure(result, Colour::kOff), Not(HasSubstr("reason")));
  findings[0].message = "dead never fired";
  EXPECT_THAT(RenderFailure(result, Colour::kOff),
              HasSubstr("\n  reason    full never fired\n"));
}

TEST(TerminalTest, ReasonStandsBehindTheCause_AndAdviceBeforeTheEvents) {
  CaseResult result = {.name = "a",
                       .file = "a.yaml",
                       .line = 2,
                       .world = "sim",
                       .summary = {.next = "remove grace"},
                       .verdict = {.kind = VerdictKind::kError,
                                   .reason = "there was nothing to check",
                                   .timeline = {"worker 0  ended"}}};
  EXPECT_EQ(RenderFailure(result, Colour::kOff),
            R"(INCONCLUSIVE a (sim)   a.yaml:2
  reason    there was nothing to check
  next      remove grace
  events    worker 0  ended
)");
  result.cause = "no worker was preempted";
  EXPECT_THAT(RenderFailure(result, Colour::kOff), HasSubstr(R"(
  cause     no worker was preempted
  reason    there was nothing to check
  next      remove grace
)"));
}

TEST(TerminalTest, UnmetExpectation_IsOnTheCaseLineAndBelowTheCause) {
  const CaseResult unmet = UnmetCase();
  EXPECT_EQ(RenderCaseLine(unmet, 20, Colour::kOff),
            "FAIL         sim  disk-full-then-crash   57ms  expectation "
            "resumed_from: expected step 10, found step 5\n");
  EXPECT_EQ(RenderFailure(unmet, Colour::kOff),
            R"(FAIL disk-full-then-crash (sim)   full.yaml:2
  cause     the save of step 10 failed, 8.1 ms after it began
  faults    full: errno worker 0
  expected  resumed_from: expected step 10, found step 5
  recovery  1 restart; resumed from step 5
  training  right
  checks    no check found a violation (2 of 2 passed); only the scenario's own expectation is not met
  next      if the run was right, set resumed_from: {step: 5} under expect (full.yaml:9)
)");
}

TEST(TerminalTest, ViolationOfACheckIsOnTheCaseLine) {
  struct Row {
    const char* invariant;
    const char* reason;
    std::string message;
    std::string text;
  };
  const Row rows[] = {
      {"grace", "grace", "killed 2 ms too early. It had 30 s",
       "grace: killed 2 ms too early"},
      {"store", "store, samples, saves", "step 5 is fenced",
       "store: step 5 is fenced; also samples, saves"},
      {"no-hang", "no-hang, outcome", "launcher: task 'main' waits",
       "no-hang: the run did not end by itself in time; also outcome"},
      {"store", "store, saves", std::string(200, 'x'),
       "store: " + std::string(112, 'x') + "…; also saves"},
      {"store", "store", "state 0123456789abcdef0123456789abcdef, step 50",
       "store: state 01234567, step 50"},
      {"store", "the worlds end differently", "step 5 is fenced",
       "the worlds end differently"}};
  for (const Row& row : rows) {
    CaseResult failed = UnmetCase();
    failed.verdict.reason = row.reason;
    failed.verdict.fails_only_expectations = false;
    failed.verdict.invariants = {
        {.invariant = row.invariant,
         .instances = 1,
         .violations = 1,
         .findings = {{row.invariant, "a-kind", row.message}}}};
    EXPECT_THAT(RenderCaseLine(failed, 20, Colour::kOff),
                EndsWith("57ms  " + row.text + "\n"));
  }
}

TEST(TerminalTest, FurtherUnmetExpectationsAreNamedOnTheCaseLine) {
  CaseResult unmet = UnmetCase();
  Verdict& verdict = unmet.verdict;
  verdict.reason = "outcome, restarts, resumed_from";
  verdict.broken_expectations = {
      {"expectation", "outcome", "outcome: expected " + std::string(200, 'x'),
       "outcome: completes"},
      {"expectation", "restarts", "restarts: expected exactly 2, found 1",
       "restarts: {exactly: 1}"},
      verdict.broken_expectations[0]};
  const std::string line = RenderCaseLine(unmet, 20, Colour::kOff);
  EXPECT_THAT(line, HasSubstr("  expectation outcome: expected xxx"));
  EXPECT_THAT(line, EndsWith("x…; also restarts, resumed_from\n"));
  EXPECT_LT(line.size(), 220U);
  const std::string block = RenderFailure(unmet, Colour::kOff);
  EXPECT_THAT(block, HasSubstr("only the scenario's own expectations are not"));
}

TEST(TerminalTest, UnmetExpectationIsCalledExpectation) {
  CaseResult unmet = UnmetCase();
  unmet.verdict.reason = "restarts";
  unmet.verdict.broken_expectations = {
      {"expectation", "restarts", "restarts: expected exactly 2, found 1"}};
  EXPECT_THAT(
      RenderCaseLine(unmet, 20, Colour::kOff),
      EndsWith("  expectation restarts: expected exactly 2, found 1\n"));
}

TEST(TerminalTest, CauseIsTheFirstLine_HoweverManyExpectationsAreUnmet) {
  for (const int unmet : {1, 2, 3, 4, 12}) {
    CaseResult result = UnmetCase();
    std::vector<Finding>& findings = result.verdict.broken_expectations;
    findings.clear();
    for (int i = 0; i < unmet; ++i) {
      const std::string name = fmt::format("{}-th", i);
      findings.push_back({"expectation", name, name + ": not met"});
      result.verdict.reason += (i == 0 ? "" : ", ") + name;
    }
    result.verdict.reason.erase(0, std::string("resumed_from").size());
    const std::string block = RenderFailure(result, Colour::kOff);
    const size_t cause = block.find("\n  cause ");
    ASSERT_NE(cause, block.npos);
    EXPECT_EQ(cause, block.find('\n')) << block;
    for (const Finding& finding : findings) {
      EXPECT_EQ(CountOf(block, " " + finding.message + "\n"), 1u) << block;
    }
  }
}

TEST(TerminalTest, UnmetExpectationsBeyondTheFirstStandBelowTheChecks) {
  CaseResult unmet = UnmetCase();
  std::vector<Finding>& findings = unmet.verdict.broken_expectations;
  findings.push_back({"expectation", "saves", "saves: expected 4, found 5",
                      "saves: {exactly: 5}"});
  findings.push_back({"expectation", "restarts", "restarts: expected 2",
                      "restarts: {exactly: 1}"});
  unmet.verdict.reason = "resumed_from, saves, restarts";
  EXPECT_THAT(
      RenderFailure(unmet, Colour::kOff),
      AllOf(HasSubstr(R"(
  expected  resumed_from: expected step 10, found step 5
            and 2 more (see checks below)
  recovery  )"),
            HasSubstr(R"( only the scenario's own expectations are not met
            saves: expected 4, found 5
            restarts: expected 2
  next )")));
}

TEST(TerminalTest, AdviceOnAFailedCheckStandsBelowTheTraining) {
  CaseResult failed = UnmetCase();
  failed.verdict.reason = "detection";
  failed.verdict.fails_only_expectations = false;
  failed.summary.next = "lower cluster.step_timeout (7s)";
  EXPECT_THAT(RenderFailure(failed, Colour::kOff),
              HasSubstr("\n  training  right\n"
                        "  next      lower cluster.step_timeout (7s)\n"));
  failed.summary.next.clear();
  EXPECT_THAT(RenderFailure(failed, Colour::kOff), Not(HasSubstr("\n  next ")));
}

TEST(TerminalTest, FailureOfACheck_IsNotBlamedOnTheExpectation) {
  CaseResult failed = UnmetCase();
  failed.verdict.reason = "store, resumed_from";
  failed.verdict.invariants[2].violations = 1;
  EXPECT_THAT(RenderCaseLine(failed, 20, Colour::kOff),
              EndsWith("  store, resumed_from\n"));
  EXPECT_THAT(RenderFailure(failed, Colour::kOff),
              AllOf(Not(HasSubstr("\n  checks ")),
                    HasSubstr("\n  expected  resumed_from: expected step 10")));
  CaseResult mutation_test = UnmetCase();
  mutation_test.verdict.reason = "the planted bug was not caught by store";
  mutation_test.verdict.fails_only_expectations = false;
  EXPECT_THAT(RenderFailure(mutation_test, Colour::kOff),
              Not(HasSubstr("\n  checks ")));
}

TEST(TerminalTest, VerdictOnAPlantedBugStandsOnce) {
  CaseResult result = UnmetCase();
  FailFor("the planted bug was not caught by store", result.verdict);
  result.verdict.broken_expectations.clear();
  const std::string reason = " " + result.verdict.reason + "\n";
  EXPECT_THAT(RenderFailure(result, Colour::kOff),
              HasSubstr("\n  reason   " + reason));
  result.summary.planted = result.verdict.reason;
  EXPECT_EQ(CountOf(RenderFailure(result, Colour::kOff), reason), 1u);
}

TEST(TerminalTest, AnotherReasonIsShownInPlaceOfTheUnmetExpectation) {
  CaseResult unmet = UnmetCase();
  FailFor("the worlds end differently", unmet.verdict);
  EXPECT_THAT(RenderCaseLine(unmet, 20, Colour::kOff),
              EndsWith("  the worlds end differently\n"));
}

TEST(TerminalTest, FailureIsWrappedAtSpaces_AndItsCommandIsNot) {
  CaseResult result = SampleResult().cases[3];
  result.replay = "gauntlet replay a-run-with-a-long-name/" + result.name;
  EXPECT_THAT(RenderFailure(result, Colour::kOff, 62), HasSubstr(R"(
            trajectory follows: each later state and loss is
              computed from what differs
  expected  restarts: expected exactly 1, found 2
  replay    gauntlet replay a-run-with-a-long-name/torn-manifest
)"));
  EXPECT_THAT(RenderFailure(result, Colour::kOff, 40), HasSubstr(R"(
  events
    worker 0, incarnation 1  step 50
      tear: torn_write
    worker 0, incarnation 2  resumed
      from step 50
  broken
    trajectory (state-digest): after
      step 51 (worker 1, incarnation 2):
      state aa, expected bb
    trajectory: 6 more violations
    trajectory follows: each later
      state and loss is computed from
      what differs
  expected
    restarts: expected exactly 1,
      found 2
  replay
    gauntlet replay a-run-with-a-long-name/torn-manifest
)"));
}

TEST(TerminalTest, PlantedBugHasItsMeaning) {
  CaseResult result = SampleResult().cases[3];
  result.planted_bugs = {"skip-manifest-fsync", "of-another-build"};
  EXPECT_THAT(
      RenderFailure(result, Colour::kOff),
      HasSubstr("  planted   skip-manifest-fsync: a save does not sync its "
                "manifest (the scenario switches this bug on)\n"
                "            of-another-build (the scenario"));
}

TEST(TerminalTest, PassWithAnUndetectedBugIsReported) {
  CaseResult result = SampleResult().cases[0];
  const auto line = [&] { return RenderCaseLine(result, 4, Colour::kOff); };
  EXPECT_THAT(line(), Not(HasSubstr("planted")));
  result.planted_bugs = {"skip-manifest-fsync"};
  EXPECT_THAT(line(),
              EndsWith("1 step recomputed; planted bug skip-manifest-fsync "
                       "is on; no check noticed it\n"));
  result.planted_bugs.emplace_back("lose-metrics");
  EXPECT_THAT(line(), EndsWith("planted bugs skip-manifest-fsync, lose-metrics "
                               "are on; no check noticed them\n"));
  result.verdict.invariants = {{.invariant = "store", .violations = 1}};
  EXPECT_THAT(line(), Not(HasSubstr("no check"))) << "expect: violates";
}

TEST(TerminalTest, NamesTheTimeOfALongReferenceRun) {
  CaseResult result = SampleResult().cases[0];
  const auto line = [&] { return RenderCaseLine(result, 4, Colour::kOff); };
  result.seconds = 41;
  result.reference_seconds = 0.9;
  EXPECT_THAT(line(), Not(HasSubstr("reference run")));
  result.reference_seconds = 39;
  EXPECT_THAT(line(),
              EndsWith("1 step recomputed; 39.0s of it for the reference "
                       "run, which is cached now\n"));
}

TEST(TerminalTest, RefusalThatTheScenarioExpectsIsNamed) {
  CaseResult result = SampleResult().cases[0];
  result.verdict.facts = {.faults_fired = 2, .restarts = 1, .refused = true};
  EXPECT_THAT(RenderCaseLine(result, 4, Colour::kOff),
              EndsWith("  2 faults, 1 restart, refused to train\n"));
}

TEST(TerminalTest, SeedIsShownOnlyIfGivenForAll) {
  RunResult result = SampleResult();
  EXPECT_THAT(RenderOpening(result), HasSubstr(", seed 42\n"));
  result.seed.reset();
  EXPECT_THAT(RenderOpening(result), Not(HasSubstr("seed")));
}

TEST(TerminalTest, CountsCasesNotRunSeparately) {
  RunResult result = SampleResult();
  result.cases.push_back(CaseLeft());
  EXPECT_THAT(RenderSummary(result, Colour::kOff),
              HasSubstr("1 failed, 1 inconclusive, 1 not run, 1 skipped\n"));
}

TEST(TerminalTest, RunReadsLikeThis) {
  EXPECT_EQ(RenderRun(SampleResult(), Colour::kOff), kGolden);
}

TEST(TerminalTest, UsesColour_OnlyIfRequested) {
  EXPECT_THAT(RenderRun(SampleResult(), Colour::kOff), Not(HasSubstr("\x1b")));
  EXPECT_THAT(RenderRun(SampleResult(), Colour::kOn),
              HasSubstr("\x1b[1;31mFAIL        \x1b[0m real torn-manifest"));
}

TEST(TerminalTest, TextOutOfRecordsCannotSteerTheTerminal) {
  RunResult result = SampleResult();
  result.cases[3].name = "\x1b[2J";
  result.cases[3].verdict.reason = "a\nPASS b";
  result.cases[3].verdict.timeline = {"\x1b]0;owned\x07"};
  const std::string text = RenderRun(result, Colour::kOff);
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, HasSubstr("a PASS b"));
}

TEST(TerminalTest, RunningCaseIsAlignedWithTheOthers) {
  EXPECT_EQ(RenderSlowLine("kill[workers=2]", "real", 30, 20, "it still runs"),
            "SLOW         real kill[workers=2]      >30.0s  it still runs\n");
}

TEST(TerminalTest, FlakyCase_HasALineAndABlockOfItsOwn) {
  const CaseResult flaky = FlakyCase(FlakyVerdict::kFails);
  EXPECT_EQ(RenderCaseLine(flaky, 13, Colour::kOff),
            "FLAKY        real torn-manifest   3.2s  failed 1 of 2 tries: "
            "trajectory, restarts\n");
  const std::string block = RenderFailure(flaky, Colour::kOff);
  EXPECT_THAT(block, StartsWith("FLAKY torn-manifest (real)   "));
  EXPECT_THAT(block, HasSubstr(R"(
  tries     FAIL 2.2s  trajectory, restarts  /runs/7f3a/torn-manifest.real
            PASS 1.0s  /runs/7f3a/torn-manifest~try-2.real
)"));
}

TEST(TerminalTest, FlakyCase_CountsAsFailedUnlessItPasses) {
  RunResult result;
  result.cases = {SampleResult().cases[0], FlakyCase(FlakyVerdict::kFails)};
  EXPECT_THAT(RenderSummary(result, Colour::kOff),
              EndsWith(": 1 passed, 1 flaky\n"));
  EXPECT_EQ(ExitCodeOf(result), 1);
  result.cases[1] = FlakyCase(FlakyVerdict::kPasses);
  EXPECT_THAT(RenderSummary(result, Colour::kOff),
              EndsWith(": 1 passed, 1 flaky\n"));
  EXPECT_EQ(ExitCodeOf(result), 0);
  EXPECT_TRUE(NeedsExplanation(result.cases[1]));
}

TEST(TerminalTest, SummaryReportsThatNothingPassed) {
  RunResult result;
  result.cases = {SampleResult().cases[3]};
  EXPECT_THAT(RenderSummary(result, Colour::kOff),
              EndsWith(": 0 passed, 1 failed\n"));
  EXPECT_THAT(RenderSummary({}, Colour::kOff), EndsWith(": 0 passed\n"));
}

TEST(TerminalTest, SlowestCasesComeFirst) {
  EXPECT_EQ(RenderSlowest(SampleResult(), 2),
            "slowest 2 cases:\n"
            "    2.2s real torn-manifest\n"
            "    1.9s real crash-mid-save[workers=2]\n");
  EXPECT_THAT(RenderSlowest(SampleResult(), 9), StartsWith("slowest 3 cases:"))
      << "a skipped case takes no time";
  EXPECT_EQ(RenderSlowest({}, 2), "");
}

TEST(TerminalTest, ExitCodeReportsTheWorst) {
  RunResult result = SampleResult();
  EXPECT_EQ(ExitCodeOf(result), 1);
  result.cases.pop_back();
  EXPECT_EQ(ExitCodeOf(result), 3);
  result.cases.pop_back();
  EXPECT_EQ(ExitCodeOf(result), 0);
  result.cases.clear();
  EXPECT_EQ(ExitCodeOf(result), 4);
}

}  // namespace
}  // namespace gauntlet
