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

// Returns a run that was to resume from step 12. Worker 1 crashed after the
// save of step 12 had begun.
Record RunWithPendingSave() {
  Record record;
  record.setup.planted_bugs = {"lose-position"};
  record.expect.resumed_from_step = 12;
  record.faults = {{.id = "c", .kind = "crash", .summary = "crash worker 1"}};
  record.incarnations = {
      {.worker = 1,
       .number = 1,
       .events = {{.kind = RecordKind::kSaveBegin, .t_ns = 10, .step = 12}}}};
  record.launchers = {{.events = {{.kind = RecordKind::kExited,
                                   .t_ns = 20,
                                   .count = 70,
                                   .about = 1,
                                   .incarnation = 1,
                                   .reason = RecordReason::kExited}}}};
  return record;
}

std::string AdviceWithUnmet(const Record& record, const std::string& name) {
  return AdviceOnUncaughtBug(
      record,
      {.verdict = {.kind = VerdictKind::kFail,
                   .invariants = {{.invariant = "store",
                                   .instances = 1,
                                   .violations = 1}},
                   .broken_expectations = {{"expectation", name, "m"}}}});
}

TEST(UncaughtBugOfARunTest, ExpectationThatStaysUnmetHasItsReason) {
  Record record = RunWithPendingSave();
  EXPECT_THAT(AdviceWithUnmet(record, "resumed_from"),
              testing::HasSubstr(
                  ", then run again: resumed_from: {step: 12} may stay unmet, "
                  "as the save of step 12 had not been acknowledged when "
                  "worker 1 exited with code 70; to test the checks"));
  EXPECT_THAT(AdviceWithUnmet(record, "restarts"),
              testing::HasSubstr(", then run again, as the unmet expectation "
                                 "may have another reason; "));
  EXPECT_THAT(AdviceWithUnmet(record, "outcome"),
              testing::Not(testing::HasSubstr("then run again")));
  std::vector<RecordEvent>& events = record.incarnations[0].events;
  events.push_back(
      {.kind = RecordKind::kSaveAcknowledged, .t_ns = 11, .step = 12});
  events.push_back({.kind = RecordKind::kFaultFired,
                    .t_ns = 12,
                    .step = 12,
                    .path = "ckpt.rename",
                    .detail = "c"});
  EXPECT_THAT(AdviceWithUnmet(record, "resumed_from"),
              testing::HasSubstr("may stay unmet, as fault c fires before the "
                                 "rename of the checkpoint of step 12; without "
                                 "the bug,"));
}

TEST(UncaughtBugOfARunTest, FirstDifferenceHasTheFaultAndTheEndOfTheRun) {
  Record record = RunWithPendingSave();
  std::vector<RecordEvent>& events = record.incarnations[0].events;
  events.push_back({.kind = RecordKind::kFaultFired,
                    .t_ns = 12,
                    .step = 8,
                    .path = "step.begin",
                    .detail = "c"});
  events.push_back({.kind = RecordKind::kWorkerExited,
                    .t_ns = 19,
                    .count = 70,
                    .detail = "replicas differ"});
  const Outline outline(record);
  EXPECT_EQ(EventsAtDifferenceText(outline, {.place = "step 8", .worker = 1}),
            "; fault c (crash worker 1) fired in worker 1 at step 8; then "
            "worker 1 exited with code 70: replicas differ");
  EXPECT_EQ(EventsAtDifferenceText(outline, {.place = "step 9", .worker = 1}),
            "; then worker 1 exited with code 70: replicas differ");
}

TEST(UncaughtBugOfARunTest, FirstDifferenceHasTheFaultThatFailedTheDevice) {
  Record record;
  record.setup.planted_bugs = {"trust-a-failed-device"};
  record.faults = {
      {.id = "g", .kind = "gpu_error", .summary = "gpu_error worker 1"}};
  record.golden.entries = {{.step = 8, .digest = "a"},
                           {.step = 9, .digest = "b"}};
  record.incarnations = {
      {.worker = 1,
       .number = 1,
       .events = {
           {.kind = RecordKind::kStep, .t_ns = 10, .step = 8, .digest = "a"},
           {.kind = RecordKind::kFaultFired,
            .t_ns = 11,
            .step = 8,
            .path = "step.end",
            .detail = "g"},
           {.kind = RecordKind::kStep, .t_ns = 12, .step = 9, .digest = "x"}}}};
  const StateDifference first = {.place = "the state after step 9",
                                 .worker = 1};
  const std::string text =
      "; fault g (gpu_error worker 1) fired in worker 1 at step 8";
  EXPECT_EQ(EventsAtDifferenceText(Outline(record), first), text);
  EXPECT_EQ(EventsAtDepartureText(Outline(record), {first}), text);
  EXPECT_EQ(EventsAtDepartureText(Outline(record), {}), text);
  // The state differs before the fault.
  record.incarnations[0].events[0].digest = "y";
  EXPECT_EQ(EventsAtDifferenceText(Outline(record), first), "");
  EXPECT_EQ(EventsAtDepartureText(Outline(record), {}), "");
  // The fault fires in another incarnation than that whose state differs.
  record.incarnations[0].events[0].digest = "a";
  record.incarnations.push_back(
      {.worker = 1,
       .number = 2,
       .events = {record.incarnations[0].events.back()}});
  record.incarnations[0].events.pop_back();
  EXPECT_EQ(EventsAtDifferenceText(Outline(record), first), "");
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
