// Description of a failed case, made from its record.
#include "harness/run/failure/failure_summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/run/case_runner.h"
#include "tests/engine/real/scratch_directory.h"
#include "tests/harness/run/small_cases.h"

namespace gauntlet {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class FailureSummaryTest : public testing::Test {
 protected:
  CaseResult Run(const Case& one) {
    return RunCase(one, {.directory = scratch_.path()},
                   {.world = WorldKind::kSimulated}, references_)
        .result;
  }

  ScratchDirectory scratch_;
  References references_{"", "test"};
};

// Returns a case with a save every 2 steps and a power loss at step 9. `bug`: a
// line of the scenario. `expect`: its expectation.
Case PowerLossCase(const std::string& bug,
                   const std::string& expect = "{outcome: recovers}") {
  std::string text = SmallScenario("seed: 7\n" + bug + R"(
faults:
  - id: power
    at: {worker: 0, step: 9, point: step.begin}
    do: power_loss
expect: )" + expect + "\n");
  const std::string saves = "{every: {steps: 4}, keep: 2}";
  text.replace(text.find(saves), saves.size(), "{every: {steps: 2}, keep: 4}");
  return LoadScenarios(text, "c.yaml").cases.at(0);
}

// Returns SmallScenario() with `keep` checkpoints kept.
Case CaseThatKeeps(int keep, const std::string& rest) {
  std::string text = SmallScenario("seed: 7\n" + rest);
  const std::string two = "keep: 2";
  text.replace(text.find(two), two.size(), "keep: " + std::to_string(keep));
  return LoadScenarios(text, "c.yaml").cases.at(0);
}

Case CrashWithBug(const std::string& bug, int keep = 2) {
  return CaseThatKeeps(keep, "planted_bugs: " + bug + R"(
faults:
  - id: crash
    at: {worker: 1, step: 6, point: step.begin}
    do: crash
expect: {outcome: recovers}
)");
}

TEST(LeftProcessesTest, AreTheCause) {
  Record record;
  record.launchers.resize(1);
  record.launchers[0].exit_code = 75;
  record.left.processes = {"worker 1, incarnation 1 (process 4711)"};
  CaseResult result;
  result.verdict = {
      .kind = VerdictKind::kFail,
      .invariants = {
          {.invariant = "no-orphans", .instances = 1, .violations = 1}}};
  ExplainFailure(record, result);
  EXPECT_EQ(result.cause,
            "worker 1, incarnation 1 (process 4711) outlived the launcher, "
            "which had exited with code 75");
  record.launchers[0].events.push_back({.kind = RecordKind::kLauncherBegin});
  result.cause = "";
  ExplainFailure(record, result);
  EXPECT_THAT(result.cause, HasSubstr("the launcher, which had been killed"));
  // Another invariant is violated, as in a run whose processes were not judged.
  result.verdict.invariants[0].invariant = "trajectory";
  result.cause = "";
  ExplainFailure(record, result);
  EXPECT_THAT(result.cause, Not(HasSubstr("outlived")));
}

TEST_F(FailureSummaryTest, PowerCutThatTookAcknowledgedCheckpointIsTheCause) {
  const CaseResult result =
      Run(PowerLossCase("planted_bugs: skip-manifest-fsync"));
  ASSERT_EQ(result.verdict.kind, VerdictKind::kFail);
  EXPECT_THAT(result.cause,
              AllOf(StartsWith("with the planted bug skip-manifest-fsync, the "
                               "power cut at step 9 damaged "
                               "step-000000008-g1, "),
                    HasSubstr("although its save had been acknowledged (")));
  EXPECT_THAT(
      result.summary.faults,
      HasSubstr("all hosts lose power, which ends the launcher, workers 0-1"));
  EXPECT_THAT(result.summary.recovery,
              HasSubstr("resumed from the checkpoint of step 4 because the "
                        "checkpoints of steps 6 and 8 were rejected"));
  EXPECT_THAT(result.summary.planted,
              AllOf(StartsWith("caught by store; with expect: "),
                    HasSubstr("invariants: [store]} the case passes in this "
                              "world (--world sim); if both worlds run")));
  EXPECT_EQ(result.consequences.size(), 1u);
}

TEST_F(FailureSummaryTest, ExpectedResume_IsAnInsertedClause) {
  EXPECT_THAT(Run(PowerLossCase("planted_bugs: skip-manifest-fsync",
                                "{outcome: recovers, resumed_from: {step: 4}}"))
                  .summary.recovery,
              HasSubstr("resumed from the checkpoint of step 4, as the "
                        "scenario expects, because the checkpoints of steps 6 "
                        "and 8 were rejected"));
}

TEST_F(FailureSummaryTest, ResultOfTrainingIsRightThoughTheStoreFailed) {
  EXPECT_THAT(
      Run(PowerLossCase("planted_bugs: skip-manifest-fsync")).summary.training,
      StartsWith("right: each step and the final state"));
}

// Returns a case that crashes after `fault` damages the checkpoint of step 4.
// It keeps `keep` checkpoints.
Case DamageCase(const std::string& fault, int keep) {
  return CaseThatKeeps(keep, R"(planted_bugs: trust-manifest-blindly
faults:
  - id: rot
    at: {worker: 1, save: 1, point: ckpt.shard.write, offset: 0%}
)" + fault + R"(
  - id: crash
    at: {worker: 1, step: 6, point: step.begin}
    do: crash
expect: {outcome: recovers}
)");
}

TEST_F(FailureSummaryTest, DamagedCheckpointThatWasLoadedIsTheCause) {
  for (const char* fault : {"    do: bit_flip\n    with: {offset: 75%}",
                            "    do: torn_write\n    with: {then: nothing, "
                            "keep: [0, 1, 2, 3, 4, 5, 6]}"}) {
    for (const int keep : {1, 4}) {
      const CaseResult result = Run(DamageCase(fault, keep));
      ASSERT_EQ(result.verdict.kind, VerdictKind::kFail) << fault;
      EXPECT_THAT(result.cause,
                  StartsWith("model-00002-of-00002.safetensors of "
                             "step-000000004-g1 was damaged by fault rot; "
                             "with the planted bug trust-manifest-blindly, it "
                             "was loaded without being noticed"));
      EXPECT_THAT(result.summary.recovery,
                  AllOf(HasSubstr("a damaged checkpoint was loaded"),
                        Not(HasSubstr("intact"))));
    }
  }
}

TEST_F(FailureSummaryTest, DamageOfTheOnlyCheckpointIsTheCauseOfARefusal) {
  const std::string text = R"(faults:
  - id: rot
    at: {worker: 1, save: 1, point: ckpt.shard.write, offset: 0%}
    do: bit_flip
    with: {offset: 75%}
  - id: crash
    at: {worker: 1, step: 6, point: step.begin}
    do: crash
expect: {outcome: )";
  const CaseResult result = Run(CaseThatKeeps(2, text + "recovers}\n"));
  ASSERT_EQ(result.verdict.kind, VerdictKind::kFail);
  EXPECT_EQ(result.cause,
            "no checkpoint can be loaded: model-00002-of-00002.safetensors of "
            "step-000000004-g1 was damaged by fault rot");
  EXPECT_EQ(result.summary.recovery,
            "1 restart; then the run refused to train (exit code 7), so "
            "nothing was recovered");
  const Verdict expected = Run(CaseThatKeeps(2, text + "refuses}\n")).verdict;
  EXPECT_EQ(expected.kind, VerdictKind::kPass);
  EXPECT_TRUE(expected.facts.refused);
}

TEST_F(FailureSummaryTest, RefusalNamesTheCheckpointThatRetentionDeleted) {
  const CaseResult result = Run(CaseThatKeeps(1, R"(faults:
  - id: rot
    at: {worker: 1, save: 2, point: ckpt.shard.write, offset: 0%}
    do: bit_flip
    with: {offset: 75%}
  - id: crash
    at: {worker: 1, step: 10, point: step.begin}
    do: crash
expect: {outcome: recovers}
)"));
  ASSERT_EQ(result.verdict.kind, VerdictKind::kFail);
  EXPECT_EQ(result.cause,
            "no checkpoint can be loaded: model-00002-of-00002.safetensors of "
            "step-000000008-g1 was damaged by fault rot; the checkpoint of "
            "step 4 was deleted by retention (keep: 1)");
  EXPECT_EQ(result.verdict.facts.faults_fired, 2u);
}

// The three restarts recompute steps 5 and 6, then steps 5 to 7, then steps 9
// and 10.
TEST_F(FailureSummaryTest, RecoveryCountsDistinctStepsAndTheirComputations) {
  const CaseResult result = Run(SmallCase(R"(faults:
  - {id: a, at: {worker: 1, step: 7}, do: crash}
  - {id: b, at: {worker: 1, step: 8, incarnation: 2}, do: crash}
  - {id: c, at: {worker: 1, step: 11, incarnation: 3}, do: crash}
expect: {outcome: completes}
)"));
  ASSERT_EQ(result.verdict.kind, VerdictKind::kFail);
  EXPECT_THAT(
      result.summary.recovery,
      HasSubstr(
          "; 5 steps recomputed, 7 recomputations in all, at most 3 after "
          "each restart"));
}

TEST_F(FailureSummaryTest, GivingUpAfterAResume_ReportsTheResume) {
  const CaseResult result = Run(SmallCase(R"(faults:
  - id: crash
    at: {worker: 1, step: 6, point: step.begin, incarnation: any}
    do: crash
    with: {repeat: always}
expect: {outcome: recovers}
)"));
  ASSERT_EQ(result.verdict.kind, VerdictKind::kFail);
  EXPECT_THAT(
      result.summary.recovery,
      AllOf(HasSubstr("3 restarts; resumed 3 times from the checkpoint of "
                      "step 4; 1 step recomputed, 3 recomputations in all; "),
            HasSubstr("; then the run ended without a result (exit "
                      "code "),
            Not(HasSubstr("nothing was recovered"))));
}

TEST_F(FailureSummaryTest, ScaleDownIsPartOfTheRecovery) {
  std::string text = SmallScenario(R"(seed: 7
faults:
  - id: crash
    at: {worker: 1, step: 6, point: step.begin, incarnation: any}
    do: crash
    with: {repeat: always}
expect: {outcome: fails}
)");
  const std::string workers = "{workers: 2";
  text.replace(text.find(workers), workers.size(),
               workers + ", min_workers: 1");
  const CaseResult result = Run(LoadScenarios(text, "c.yaml").cases.at(0));
  EXPECT_THAT(
      result.summary.recovery,
      StartsWith("3 restarts; the launcher scaled the cluster down from "
                 "2 workers to 1 (attempt 4), as worker 1 had failed 3 times "
                 "in a row and cluster.min_workers is 1; resumed 3 times "
                 "from "));
}

TEST_F(FailureSummaryTest, ResumeFromMemoryIsNotCalledNoResumption) {
  Case one = SmallCase(R"(faults:
  - {id: kill, at: {worker: 1, step: 7}, do: kill}
expect: {outcome: recovers, resumed_from: {step: 4}}
)");
  one.cluster.policy = RestartPolicy::kRejoin;
  const CaseResult result = Run(one);
  ASSERT_EQ(result.verdict.broken_expectations.size(), 1u);
  EXPECT_EQ(result.verdict.broken_expectations[0].message,
            "resumed_from: expected step 4, found a resumption from memory "
            "(step 6)");
}

// A worker that rejoins resumes from memory; a cold start needs no checkpoint.
TEST_F(FailureSummaryTest, RestartWithoutACheckpointRecoversSomething) {
  const std::pair<std::string, std::string> kStarts[] = {
      {"rejoin", "resumed from memory at step 0; 1 step recomputed"},
      {"whole-job", "started from scratch; 1 step recomputed"}};
  for (const auto& [policy, start] : kStarts) {
    std::string text = SmallScenario(R"(seed: 7
faults:
  - id: first
    at: {worker: 1, step: 2, point: step.begin}
    do: crash
  - id: second
    at: {worker: 1, step: 3, point: step.begin, incarnation: 2}
    do: crash
expect: {outcome: recovers}
)");
    const std::string workers = "{workers: 2}";
    text.replace(text.find(workers), workers.size(),
                 "{workers: 2, restart: {policy: " + policy + ", max: 1}}");
    const CaseResult result = Run(LoadScenarios(text, "c.yaml").cases.at(0));
    ASSERT_EQ(result.verdict.kind, VerdictKind::kFail) << policy;
    EXPECT_THAT(result.summary.recovery,
                AllOf(StartsWith("1 restart; " + start),
                      HasSubstr("; then the run ended without a result (exit "
                                "code "),
                      Not(HasSubstr("nothing was recovered"))))
        << policy;
  }
}

TEST_F(FailureSummaryTest, SaveAcknowledgedBeforeItsRenameIsTheCause) {
  const CaseResult result = Run(SmallCase(R"(disk: {profile: weak}
planted_bugs: acknowledge-before-rename
faults:
  - id: power
    at: {worker: 0, save: 2, point: ckpt.rename}
    do: power_loss
expect: {outcome: recovers}
)"));
  ASSERT_EQ(result.verdict.kind, VerdictKind::kFail);
  EXPECT_EQ(result.cause,
            "with the planted bug acknowledge-before-rename, step 8 was "
            "acknowledged before its rename; the power cut came "
            "before the rename; no checkpoint of step 8 remained "
            "(step-000000008-g1)");
}

// A full disk fails the second save, that of step 8; the save of step 12 is not
// finished when worker 1 crashes in it.
TEST_F(FailureSummaryTest, SaveThatAFaultFailedIsTheCause_NotTheLaterOne) {
  const CaseResult result = Run(CaseThatKeeps(2, R"(faults:
  - id: full
    at: {worker: 0, save: 2, point: ckpt.manifest.write}
    do: errno
    with: {error: ENOSPC}
  - id: dead
    at: {worker: 1, save: 3, point: ckpt.shard.write}
    do: crash
expect: {outcome: recovers, resumed_from: {step: 8}}
)"));
  ASSERT_EQ(result.verdict.kind, VerdictKind::kFail);
  EXPECT_THAT(
      result.cause,
      AllOf(StartsWith(
                "the save of step 8 failed: fault full (ENOSPC in "
                "MANIFEST.json); the save of step 12 was still being "
                "written when worker 1 exited with code 70 because of fault "
                "dead (crash worker 1 at "),
            HasSubstr(" acknowledged saves took ")));
  EXPECT_THAT(result.summary.recovery,
              HasSubstr("resumed from the checkpoint of step 4 (the save of "
                        "step 8 failed; the "
                        "save of step 12 began and was not acknowledged)"));
}

TEST_F(FailureSummaryTest, FaultThatFailedTheLastSaveIsPartOfTheCause) {
  const CaseResult result = Run(CaseThatKeeps(2, R"(faults:
  - id: full
    at: {worker: 1, save: 2, point: ckpt.shard.write}
    do: errno
    with: {error: EIO}
  - id: dead
    at: {worker: 1, step: 10}
    do: crash
expect: {outcome: recovers, resumed_from: {step: 8}}
)"));
  ASSERT_EQ(result.verdict.kind, VerdictKind::kFail);
  EXPECT_EQ(result.cause,
            "the save of step 8 failed: fault full (EIO in "
            "model-00002-of-00002.safetensors); when worker 1 exited with code "
            "70 because of fault dead (crash worker 1 at step.begin, step 10), "
            "the run resumed from step 4");
}

// The save of step 10 fails while training is at step 15. That of step 15 has
// just begun when worker 1 crashes.
TEST_F(FailureSummaryTest, AsynchronousSaveThatAFaultFailedIsTheCause) {
  const std::string text = R"(schema: gauntlet/v2
name: c
preset: tiny
job: {epochs: 4, replicas: 2}
cluster: {workers: 2}
checkpoint: {every: {steps: 5}, mode: async}
faults:
  - id: full
    at: {worker: 0, save: 2, point: ckpt.manifest.write}
    do: errno
    with: {error: ENOSPC}
  - id: dead
    at: {worker: 1, step: 17}
    do: crash
expect: {outcome: recovers, resumed_from: {step: 10}}
)";
  const CaseResult result = Run(LoadScenarios(text, "c.yaml").cases.at(0));
  ASSERT_EQ(result.verdict.kind, VerdictKind::kFail);
  EXPECT_THAT(
      result.cause,
      AllOf(StartsWith(
                "the save of step 10 failed: fault full (ENOSPC in "
                "MANIFEST.json); the save of step 15 was still being "
                "written when worker 1 exited with code 70 because of fault "
                "dead (crash worker 1 at "),
            HasSubstr(" acknowledged saves took ")));
}

TEST_F(FailureSummaryTest, RemovedCheckpointIsNotCalledIntact) {
  EXPECT_THAT(Run(CrashWithBug("lose-rng-key")).summary.recovery,
              AllOf(HasSubstr("the state is not the saved one"),
                    HasSubstr("removed later, so it is not verified"),
                    Not(HasSubstr("intact"))));
}

TEST_F(FailureSummaryTest, LoadThatChangesTheStateLeavesTheCheckpointIntact) {
  const CaseResult result = Run(CrashWithBug("lose-rng-key", 9));
  ASSERT_EQ(result.verdict.kind, VerdictKind::kFail);
  EXPECT_THAT(result.summary.recovery,
              HasSubstr("the checkpoint is intact, but the state changed"));
  EXPECT_THAT(result.summary.training,
              AllOf(StartsWith("wrong: the final state differs"),
                    HasSubstr("the first loss that differs is that of step ")));
  EXPECT_THAT(result.cause, StartsWith("with the planted bug lose-rng-key, "))
      << "no checkpoint was lost";
}

TEST_F(FailureSummaryTest, SurplusOfStepsIsPartOfTheResult) {
  EXPECT_THAT(Run(CrashWithBug("lose-position")).summary.training,
              HasSubstr(" steps, the reference run "));
}

TEST_F(FailureSummaryTest, UnfinishedTraining_NamesTheReachedStepOrTheReason) {
  EXPECT_THAT(Run(SmallCase("faults: [{id: c, at: {worker: 1, step: 6, "
                            "incarnation: any}, do: crash, with: {repeat: "
                            "always}}]\n"
                            "expect: {outcome: recovers}\n"))
                  .summary.training,
              StartsWith("not finished: step 5 of 12 was reached; "));
  EXPECT_THAT(Run(SmallCase("disk: {capacity: 32KiB}\n"
                            "expect: {outcome: completes}\n"))
                  .summary.training,
              StartsWith("not finished: all 12 steps were trained, but the run "
                         "ended without a result; "));
}

// An expectation that is not met need not follow from the bug.
TEST_F(FailureSummaryTest, PlantedBugIsNoCauseIfNoCheckFoundAViolation) {
  const CaseResult result =
      Run(SmallCase("planted_bugs: lose-rng-key\n"
                    "expect: {outcome: completes, exit_code: 3}\n"));
  ASSERT_EQ(result.verdict.kind, VerdictKind::kFail);
  EXPECT_THAT(result.cause, StartsWith("the launcher exited with code 0"));
}

TEST_F(FailureSummaryTest, CaseThatPassedHasNone) {
  const CaseResult result = Run(PowerLossCase(""));
  EXPECT_EQ(result.verdict.kind, VerdictKind::kPass) << result.verdict.reason;
  EXPECT_EQ(result.summary, FailureSummary());
}

TEST_F(FailureSummaryTest, CaseWithoutPlantedBugHasNoVerdictOnIt) {
  const CaseResult result = Run(WrongCase());
  ASSERT_EQ(result.verdict.kind, VerdictKind::kFail);
  EXPECT_EQ(result.summary.planted, "");
  EXPECT_THAT(result.summary.training, StartsWith("right: "));
}

}  // namespace
}  // namespace gauntlet
