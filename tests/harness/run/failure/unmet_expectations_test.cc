// Causes of cases in which only an expectation of the scenario is not met.
#include "harness/run/failure/unmet_expectations.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/run/case_runner.h"
#include "tests/engine/real/scratch_directory.h"
#include "tests/harness/run/small_cases.h"

namespace gauntlet {
namespace {

using testing::StartsWith;

class UnmetExpectationsTest : public testing::Test {
 protected:
  CaseResult Run(const Case& one) {
    return RunCase(one, {.directory = scratch_.path()},
                   {.world = WorldKind::kSimulated}, references_)
        .result;
  }

  ScratchDirectory scratch_;
  References references_{"", "test"};
};

// Settings of the cluster, the end of a scenario, and the expected cause.
struct ExpectationCase {
  const char* cluster;
  const char* rest;
  const char* cause;
};

Case CaseOf(const ExpectationCase& one) {
  std::string text = SmallScenario(std::string("seed: 7\n") + one.rest);
  const std::string workers = "{workers: 2";
  text.replace(text.find(workers), workers.size(), workers + one.cluster);
  const LoadedFile loaded = LoadScenarios(text, "c.yaml");
  CHECK(loaded.errors.empty(), RenderErrors(loaded, "c.yaml", text));
  return loaded.cases.at(0);
}

constexpr const char* kCrash =
    "faults: [{id: c, at: {worker: 1, step: 10}, do: crash}]\n";

// A crash at step 10, after the saves of steps 4 and 8.
TEST_F(UnmetExpectationsTest, CauseIsTheEventThatLedToTheFoundValue) {
  const ExpectationCase kCases[] = {
      {"", "expect: {outcome: recovers, resumed_from: {step: 4}}\n",
       "the save of step 8 had been acknowledged when worker 1 exited with "
       "code 70 because of fault c (crash worker 1 at step.begin, step 10), so "
       "the run resumed from step 8"},
      {", restart: {policy: rejoin}",
       "expect: {outcome: recovers, resumed_from: {step: 8}}\n",
       "fault c (crash worker 1 at step.begin, step 10) interrupted attempt 1: "
       "worker 1 exited with code 70; the launcher restarted worker 1 alone "
       "(cluster.restart.policy is rejoin); the workers resumed from memory at "
       "step 8, so the run loaded no checkpoint"},
      {"", "expect: {outcome: recovers, recomputed_steps: {max: 0}}\n",
       "training had reached step 9 when worker 1 exited with code 70 because "
       "of fault c (crash worker 1 at step.begin, step 10), and the run "
       "started again from step 8, so it recomputed 1 step"},
      {"", "expect: {outcome: recovers, restarts: {exactly: 0}}\n",
       "fault c (crash worker 1 at step.begin, step 10) ended attempt 1: "
       "worker 1 exited with code 70; the launcher restarted the job"},
      {"", "expect: {outcome: recovers, failed_saves: {exactly: 2}}\n",
       "no save ended with an error: the run acknowledged the saves of steps "
       "4, 8 and 12 (4 saves in all: step 12 was saved before the evaluation "
       "and at the end of training)"},
      {"", "expect: {outcome: recovers, ends_at: {step: 10}}\n",
       "training ended after 12 steps, with 2 epochs complete: the launcher "
       "exited with code 0, as the training was completed"},
      {"", "expect: {outcome: recovers, checkpoints: [4, 8]}\n",
       "the run acknowledged the saves of steps 4, 8 and 12 (4 saves in all: "
       "step 12 was saved before the evaluation and at the end of training); "
       "retention keeps the newest 2 (checkpoint.keep)"},
      {"", "expect: {outcome: recovers, epochs_after_restart: {exactly: 2}}\n",
       "after the first restart (worker 1 exited with code 70 because of fault "
       "c (crash worker 1 at step.begin, step 10)), training started from step "
       "8; epoch 2 of 2 ended after that"},
      {"", "expect: {outcome: recovers, exit_code: 3}\n",
       "the launcher exited with code 0, as the training was completed"},
      {"", "expect: {outcome: stops-cleanly}\n",
       "the training was completed after 1 restart: no preemption notice "
       "stopped it before its end"},
      {"", "expect: {outcome: refuses}\n",
       "the training was completed after 1 restart: the checkpoint of step 8 "
       "could be loaded"},
      {"", "expect: {outcome: stops-on-nan}\n",
       "the training was completed after 1 restart: it did not stop on "
       "an infinite or NaN loss (job.stop_on_nan)"},
      {"", "expect: {outcome: retry-later}\n",
       "the training was completed after 1 restart: each state could be saved "
       "in the end"},
  };
  for (const ExpectationCase& one : kCases) {
    const std::string rest = std::string(kCrash) + one.rest;
    const CaseResult result = Run(CaseOf({one.cluster, rest.c_str(), ""}));
    EXPECT_TRUE(result.verdict.fails_only_expectations) << rest;
    EXPECT_EQ(result.cause, one.cause) << rest;
  }
}

TEST_F(UnmetExpectationsTest, RunWithoutARestartHasACauseToo) {
  const ExpectationCase kCases[] = {
      {"", "expect: {outcome: completes, exit_code: 3}\n",
       "the launcher exited with code 0, as the training was completed"},
      {"", "expect: {outcome: completes, resumed_from: {step: 4}}\n",
       "no process ended before training was complete, so nothing had to be "
       "restarted, and the run loaded no checkpoint"},
      // The failed save is tried again.
      {"",
       "faults: [{id: e, at: {worker: 0, save: 3, point: ckpt.shard.write}, "
       "do: errno, with: {error: ENOSPC}}]\n"
       "expect: {outcome: completes, checkpoints: [8, 12]}\n",
       "the run acknowledged the saves of steps 4, 8 and 12 (4 saves in all: "
       "step 12 was saved before the evaluation and at the end of training); "
       "retention keeps the newest 2 (checkpoint.keep); the save of step 12 "
       "failed: fault e (ENOSPC in model-00001-of-00002.safetensors); a later "
       "try saved step 12"},
      {"", "expect: {outcome: completes, saves: {exactly: 9}}\n",
       "the run acknowledged the saves of steps 4, 8 and 12 (4 saves in all: "
       "step 12 was saved before the evaluation and at the end of training); a "
       "save is due every 4 steps (checkpoint.every), and the end of training "
       "is saved, too (checkpoint.on_success)"},
      {"", "expect: {outcome: fails}\n",
       "the training was completed without a restart, so the launcher did not "
       "give up"},
      {"",
       "launches: [{stop_at_step: 4}, {}]\n"
       "expect: {outcome: recovers, restarts: {exactly: 0}}\n",
       "the scenario starts the launcher 2 times (launches), and each start "
       "after the first is a restart"},
      {"",
       "preemption: {requeue: 0}\n"
       "launches: [{stop_at_step: 4}]\n"
       "expect: {outcome: completes}\n",
       "the launcher exited with code 143, as its launch was planned to stop "
       "at step 4 (launches.stop_at_step)"},
      {"",
       "faults: [{id: e, at: {worker: 0, save: 1, point: ckpt.shard.open}, do: "
       "errno}]\n"
       "expect: {outcome: completes, failed_saves: {exactly: 0}}\n",
       "the save of step 4 failed: fault e (EIO in "
       "model-00001-of-00002.safetensors)"},
      // The second launch must refuse to train, and the third one resumes.
      {"",
       "launches: [{epochs: 1}, {lr: 0.5}, {}]\n"
       "expect: {outcome: recovers, restarts: {exactly: 1}, resumed_from: "
       "{step: 4}}\n",
       "attempt 2 (launch 2) ended: the chief refused to train (exit code 8): "
       "step-000000006-g1 was written by another job: use another checkpoint "
       "directory (--ckpt), or the original settings. optimizer.learning_rate: "
       "0.01 in the checkpoint, 0.5 now; the scenario starts the launcher 3 "
       "times (launches), and each start after the first is a restart; the "
       "save of step 6 had been acknowledged when launch 1 ended after step 6, "
       "so the run resumed from step 6"},
      // The launch ends before the save of the expected step.
      {"",
       "launches: [{epochs: 1}, {}]\n"
       "expect: {outcome: recovers, resumed_from: {step: 8}}\n",
       "no save of step 8 had begun when launch 1 ended after step 6, so the "
       "run resumed from step 6"},
  };
  for (const ExpectationCase& one : kCases) {
    const CaseResult result = Run(CaseOf(one));
    EXPECT_TRUE(result.verdict.fails_only_expectations) << one.rest;
    EXPECT_EQ(result.cause, one.cause) << one.rest;
  }
}

// Two unmet expectations concern the restarts.
TEST_F(UnmetExpectationsTest, InterruptionIsDescribedOnce) {
  const CaseResult result =
      Run(CaseOf({", restart: {policy: rejoin}",
                  "faults: [{id: c, at: {worker: 1, step: 6}, do: crash}, {id: "
                  "h, after: c, at: {worker: 1, step: 10}, do: hang}]\n"
                  "expect: {outcome: recovers, restarts: {exactly: 1}, "
                  "resumed_from: {step: 4}}\n",
                  ""}));
  EXPECT_EQ(result.cause,
            "2 faults led to 2 restarts: fault c (crash worker 1 at "
            "step.begin, step 6) interrupted attempt 1; fault h (hang worker 1 "
            "at step.begin, step 10, incarnation any, after c) interrupted "
            "attempt 1: worker 0 lost rank 1 (deadline: cluster.step_timeout "
            "is 30s); the launcher restarted worker 1 alone "
            "(cluster.restart.policy is rejoin); the workers resumed from "
            "memory at step 4, so the run loaded no checkpoint");
}

// The second crash ends the only worker that had kept the state in memory.
TEST_F(UnmetExpectationsTest, EndOfTheLastHolderOfTheState_HasItsFault) {
  const CaseResult result =
      Run(CaseOf({", restart: {policy: rejoin}",
                  "faults: [{id: c, at: {worker: 1, step: 10}, do: crash}, "
                  "{id: d, after: c, at: {worker: 0, point: "
                  "cluster.state.send}, do: crash}]\n"
                  "expect: {outcome: recovers, recomputed_steps: {max: 0}}\n",
                  ""}));
  EXPECT_THAT(result.cause,
              testing::AllOf(
                  testing::HasSubstr("because of fault c (crash worker 1"),
                  testing::HasSubstr("; fault d (crash worker 0 at "
                                     "cluster.state.send"),
                  testing::HasSubstr(") then ended worker 0, so no worker was "
                                     "left to rejoin with a state in memory")));
  EXPECT_THAT(result.summary.next,
              testing::HasSubstr("remove fault d, so that worker 0 passes on "
                                 "its state in memory, or "));
}

// One fault that ends all workers is named once.
TEST_F(UnmetExpectationsTest, FaultThatEndsAllHoldersIsNamedOnce) {
  const CaseResult result =
      Run(CaseOf({", restart: {policy: rejoin}",
                  "faults: [{id: k, at: {worker: all, step: 7}, do: kill}]\n"
                  "expect: {outcome: recovers, recomputed_steps: {max: 0}}\n",
                  ""}));
  EXPECT_THAT(result.cause,
              testing::AllOf(testing::HasSubstr("; no worker was left"),
                             testing::Not(testing::HasSubstr("then ended"))));
}

// The save of step 4 fails in attempt 1, and is made again in attempt 2.
TEST_F(UnmetExpectationsTest, SaveThatIsRepeatedAfterARestart_HasItsFaults) {
  const CaseResult result =
      Run(CaseOf({"",
                  "faults: [{id: e, at: {worker: 0, save: 1, point: "
                  "ckpt.manifest.write}, do: errno, with: {error: ENOSPC}}, "
                  "{id: c, at: {worker: 1, step: 6}, do: crash}]\n"
                  "expect: {outcome: recovers, saves: {exactly: 3}}\n",
                  ""}));
  EXPECT_THAT(
      result.cause,
      testing::HasSubstr("; the save of step 4 failed: fault e (ENOSPC in "
                         "MANIFEST.json); a later try, after the restart, "
                         "saved step 4; fault c "));
  EXPECT_THAT(
      result.summary.next,
      testing::HasSubstr("; if the expectation is right, remove fault c, which "
                         "ended attempt 1, as the save of step 4, which had "
                         "failed, was made again after the restart, and set "
                         "outcome: completes, as the run then needs no "
                         "restart; or set checkpoint.on_success to leave, "));
}

TEST_F(UnmetExpectationsTest, EachUnmetExpectationIsExplained) {
  const CaseResult result =
      Run(CaseOf({"",
                  "faults: [{id: c, at: {worker: 1, step: 10}, do: crash}]\n"
                  "expect: {outcome: completes, recomputed_steps: {max: 0}, "
                  "exit_code: 3}\n",
                  ""}));
  EXPECT_EQ(result.cause,
            "fault c (crash worker 1 at step.begin, step 10) ended attempt 1: "
            "worker 1 exited with code 70; the launcher restarted the job; "
            "training had reached step 9 when worker 1 exited with code 70 "
            "because of fault c (crash worker 1 at step.begin, step 10), and "
            "the run started again from step 8, so it recomputed 1 step; the "
            "launcher exited with code 0, as the training was completed");
}

// Returns an acknowledged save of step 4, at the end of an epoch.
RecordEvent SaveOfStep4(uint64_t generation, RecordPhase phase,
                        const std::string& name) {
  return {.kind = RecordKind::kSaveAcknowledged,
          .generation = generation,
          .step = 4,
          .phase = phase,
          .path = name};
}

// Returns a verdict on a run that restarted once. One check passed, and the
// expectation `name` failed.
Verdict UnmetVerdict(const std::string& name) {
  return {.kind = VerdictKind::kFail,
          .fails_only_expectations = true,
          .invariants = {{.invariant = "trajectory", .instances = 1}},
          .broken_expectations = {{.invariant = "expectation",
                                   .name = name,
                                   .message = "",
                                   .met = "restarts: {exactly: 1}"}},
          .facts = {.restarts = 1}};
}

TEST(ExplainExpectationsTest, WithoutAReason_TheRunIsStatedToBeRight) {
  const Record record;
  EXPECT_EQ(ExplainExpectations(Outline(record), UnmetVerdict("other")),
            "the run behaved correctly, as no check found a violation; only "
            "the expectation of the scenario differs: set restarts: {exactly: "
            "1} under expect");
}

TEST(ExplainExpectationsTest, TrendNamesTheEpochsThatItCompares) {
  Record record;
  record.incarnations.emplace_back().events = {{.kind = RecordKind::kEpochEnd,
                                                .epoch = 0,
                                                .count = 41,
                                                .loss_bits = 0x40000000},
                                               {.kind = RecordKind::kEpochEnd,
                                                .epoch = 2,
                                                .count = 36,
                                                .loss_bits = 0x40200000}};
  EXPECT_THAT(ExplainExpectations(Outline(record), UnmetVerdict("loss")),
              StartsWith("loss: falls compares the ends of epochs 1 and 3: the "
                         "loss is 2, then 2.5; the undisturbed training "));
  EXPECT_THAT(ExplainExpectations(Outline(record), UnmetVerdict("accuracy")),
              StartsWith("accuracy: rises compares the ends of epochs 1 and 3: "
                         "41 samples are correct, then 36; the undisturbed "));
}

TEST(ExplainExpectationsTest, TrendNeedsTwoEpochs) {
  EXPECT_EQ(ExplainExpectations(Outline(Record()), UnmetVerdict("loss")),
            "loss: falls and accuracy: rises compare the ends of the first and "
            "the last epoch, but no epoch ended");
}

// No scheduled save is due at the end, step 14.
TEST(ExplainExpectationsTest, SaveOfTheEndHasItsKey) {
  Record record;
  record.setup.save_interval_steps = 5;
  record.launchers = {{.result = FinalResult{.status = "done", .steps = 14}}};
  record.incarnations.emplace_back().events = {
      {.kind = RecordKind::kSaveAcknowledged, .step = 5},
      {.kind = RecordKind::kSaveAcknowledged, .step = 14}};
  EXPECT_EQ(ExplainExpectations(Outline(record), UnmetVerdict("saves")),
            "the run acknowledged the saves of steps 5 and 14; a save is due "
            "every 5 steps (checkpoint.every), and the end of training is "
            "saved, too (checkpoint.on_success)");
}

TEST(ExplainExpectationsTest, DeletedCheckpoints_NameTheKey) {
  Record record;
  record.setup.delete_at_success = true;
  record.launchers = {{.result = FinalResult{.status = "done"}}};
  EXPECT_EQ(ExplainExpectations(Outline(record), UnmetVerdict("checkpoints")),
            "the run acknowledged no save; a successful run deletes its "
            "checkpoints (checkpoint.on_success)");
}

TEST(ExplainExpectationsTest, SavesOfOneStepAreToldApart) {
  Record record;
  std::vector<RecordEvent>& events = record.incarnations.emplace_back().events;
  events = {
      SaveOfStep4(1, RecordPhase::kEvaluationDue, "step-000000004-g1"),
      SaveOfStep4(1, RecordPhase::kInEpoch, "step-000000004-finished-g1")};
  EXPECT_EQ(ExplainExpectations(Outline(record), UnmetVerdict("checkpoints")),
            "the run acknowledged the save of step 4 (2 saves in all: step 4 "
            "was saved before the evaluation and at the end of training)");
  events[1] = SaveOfStep4(2, RecordPhase::kEvaluationDue, "step-000000004-g2");
  EXPECT_EQ(ExplainExpectations(Outline(record), UnmetVerdict("checkpoints")),
            "the run acknowledged the save of step 4 (2 saves in all: "
            "recomputed steps were saved again)");
}

TEST(ExplainExpectationsTest, RunWithAViolationIsNotStatedToBeRight) {
  Record record;
  record.incarnations.emplace_back().events = {
      {.kind = RecordKind::kEpochEnd, .epoch = 0},
      {.kind = RecordKind::kEpochEnd, .epoch = 1}};
  const auto is_right =
      testing::AnyOf(testing::HasSubstr("behaved correctly"),
                     testing::HasSubstr("undisturbed training"));
  for (const char* name : {"other", "loss"}) {
    Verdict verdict = UnmetVerdict(name);
    EXPECT_THAT(ExplainExpectations(Outline(record), verdict), is_right);
    verdict.invariants[0].violations = 1;
    EXPECT_THAT(ExplainExpectations(Outline(record), verdict),
                testing::Not(is_right));
    verdict = UnmetVerdict(name);
    FailFor("the worlds end differently", verdict);
    EXPECT_THAT(ExplainExpectations(Outline(record), verdict),
                testing::Not(is_right));
  }
}

}  // namespace
}  // namespace gauntlet
