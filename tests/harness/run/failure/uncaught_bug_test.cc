// Mutation tests whose planted bug was not caught.
#include "harness/run/failure/uncaught_bug.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/run/case_runner.h"
#include "tests/engine/real/scratch_directory.h"
#include "tests/harness/run/small_cases.h"

namespace gauntlet {
namespace {

class UncaughtBugTest : public testing::Test {
 protected:
  CaseResult Run(const std::string& rest) {
    const std::string text = SmallScenario("seed: 7\n" + rest);
    const LoadedFile loaded = LoadScenarios(text, "c.yaml");
    CHECK(loaded.errors.empty(), RenderErrors(loaded, "c.yaml", text));
    return RunCase(loaded.cases.at(0), {.directory = scratch_.path()},
                   {.world = WorldKind::kSimulated}, references_)
        .result;
  }

  ScratchDirectory scratch_;
  References references_{"", "test"};
};

// Epochs have 6 steps, and a save is made every 4.
TEST_F(UncaughtBugTest, BugWithoutEffect_NamesItsCondition) {
  const CaseResult result =
      Run("planted_bugs: lose-position\n"
          "faults: [{id: c, at: {worker: 1, step: 3}, do: crash}]\n"
          "expect: {outcome: violates, invariants: [samples]}\n");
  EXPECT_EQ(result.verdict.kind, VerdictKind::kFail);
  EXPECT_EQ(result.cause,
            "no check found a violation: lose-position shows only when a "
            "worker resumes from a checkpoint of a step within an epoch; this "
            "run loaded no checkpoint");
  EXPECT_EQ(result.summary.next,
            "change the scenario so that a worker resumes from a checkpoint of "
            "a step within an epoch (every: {steps: 5}, do: crash)");
}

TEST_F(UncaughtBugTest, AdvisesToExpectTheCatchingCheck) {
  const CaseResult result =
      Run("planted_bugs: skip-manifest-fsync\n"
          "faults: [{id: c, at: {worker: 1, step: 6}, do: crash}]\n"
          "expect: {outcome: violates, invariants: [trajectory]}\n");
  EXPECT_EQ(result.summary.next,
            "change the scenario so that the machine loses power after a save "
            "was acknowledged (simulation only, do: power_loss); if trajectory "
            "then does not catch it, set invariants: [store] under expect "
            "(c.yaml:14)");
}

TEST_F(UncaughtBugTest, ViolatedChecks_AreToBeExpected) {
  const CaseResult result =
      Run("planted_bugs: lose-metrics\n"
          "faults: [{id: c, at: {worker: 1, step: 6}, do: crash}]\n"
          "expect: {outcome: violates, invariants: [samples]}\n");
  EXPECT_EQ(result.verdict.kind, VerdictKind::kFail);
  EXPECT_THAT(result.summary.next,
              testing::MatchesRegex(
                  "set invariants: .[a-z, -]+. under expect .c.yaml:14., as "
                  "the run keeps the rule of samples .each step uses the "
                  "reference's samples; .*"));
  EXPECT_EQ(ExplainUncaughtBug({}, result.verdict), "");
}

TEST(UncaughtBugOfARunTest, ChecksThatFoundAViolation_HaveNoKeptRule) {
  Record record;
  record.setup.planted_bugs = {"lose-position"};
  record.expect.outcome = Outcome::kViolates;
  record.expect.invariants = {"samples"};
  const CaseResult result = {.file = "c.yaml",
                             .verdict = {.kind = VerdictKind::kFail,
                                         .invariants = {{.invariant = "samples",
                                                         .instances = 1,
                                                         .violations = 1}}}};
  EXPECT_EQ(AdviceOnUncaughtBug(record, result),
            "set invariants: [samples] under expect (c.yaml)");
}

// Each named check must find a violation.
TEST(UncaughtBugOfARunTest, NamedChecksThatCatchABug_AreKept) {
  Record record;
  record.setup.planted_bugs = {"lose-position", "skip-manifest-fsync"};
  record.expect.outcome = Outcome::kViolates;
  record.expect.invariants = {"samples"};
  const CaseResult result = {.file = "c.yaml",
                             .verdict = {.kind = VerdictKind::kFail}};
  EXPECT_THAT(AdviceOnUncaughtBug(record, result),
              testing::EndsWith(
                  "; set invariants: [samples, store] under expect (c.yaml)"));
  record.expect.invariants = {"samples", "trajectory"};
  EXPECT_THAT(AdviceOnUncaughtBug(record, result),
              testing::EndsWith("; if trajectory then does not catch it, set "
                                "invariants: [samples, store] under expect "
                                "(c.yaml)"));
}

TEST(UncaughtBugOfARunTest, CaughtBug_IsRemovedFromACaseThatIsToPass) {
  Record record;
  record.setup.planted_bugs = {"lose-position", "lose-metrics"};
  const CaseResult result = {.verdict = {.kind = VerdictKind::kFail,
                                         .invariants = {{.invariant = "samples",
                                                         .instances = 1,
                                                         .violations = 1}}}};
  EXPECT_EQ(AdviceOnUncaughtBug(record, result),
            "remove planted_bugs, which switches on lose-position and "
            "lose-metrics; to test the checks instead, expect their violation "
            "(see planted)");
}

TEST(UncaughtBugOfARunTest, UncaughtBugOfAnotherOutcome_HasNoAdvice) {
  Record record;
  record.setup.planted_bugs = {"lose-position"};
  const CaseResult result = {.verdict = {.kind = VerdictKind::kFail}};
  EXPECT_EQ(ExplainUncaughtBug(record, result.verdict), "");
  EXPECT_EQ(AdviceOnUncaughtBug(record, result), "");
  record.expect.outcome = Outcome::kViolates;
  EXPECT_NE(ExplainUncaughtBug(record, result.verdict), "");
  EXPECT_NE(AdviceOnUncaughtBug(record, result), "");
}

}  // namespace
}  // namespace gauntlet
