// Causes and advice of inconclusive cases.
#include "harness/run/failure/idle_fault.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/run/case_runner.h"
#include "tests/engine/real/scratch_directory.h"
#include "tests/harness/run/small_cases.h"

namespace gauntlet {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;

class IdleFaultTest : public testing::Test {
 protected:
  // Returns the result of SmallScenario(`rest`), with `cluster` added to the
  // settings of its cluster.
  CaseResult Run(const std::string& rest, const std::string& cluster = "") {
    std::string text = SmallScenario("seed: 7\n" + rest);
    const std::string workers = "{workers: 2";
    text.replace(text.find(workers), workers.size(), workers + cluster);
    const LoadedFile loaded = LoadScenarios(text, "c.yaml");
    CHECK(loaded.errors.empty(), RenderErrors(loaded, "c.yaml", text));
    return RunCase(
               loaded.cases.at(0),
               {.directory = scratch_.path(), .replay = "gauntlet replay 7/c"},
               {.world = WorldKind::kSimulated}, references_)
        .result;
  }

  ScratchDirectory scratch_;
  References references_{"", "test"};
};

TEST_F(IdleFaultTest, WorkerOfNoLaterAttempt_IsNamed) {
  const CaseResult result = Run(
      "faults: [{id: a, at: {worker: 0, step: 6}, do: crash}, {id: b, after: "
      "a, at: {worker: 1, step: 9}, do: crash}]\n"
      "expect: {outcome: recovers}\n",
      ", workers_per_attempt: [2, 1]");
  EXPECT_EQ(result.verdict.kind, VerdictKind::kError);
  EXPECT_EQ(result.cause,
            "fault b waits for worker 1, but incarnation 2 has only worker 0 "
            "(cluster.workers_per_attempt)");
  EXPECT_EQ(result.summary.next,
            "set `worker` of fault b to one of incarnation 2 (0), or raise "
            "cluster.workers_per_attempt");
}

TEST_F(IdleFaultTest, IncarnationThatAnotherFaultEnded_NamesThatFault) {
  const CaseResult result =
      Run("faults: [{id: h, at: {worker: 0, step: 3}, do: crash}, {id: o, at: "
          "{worker: 1, step: 8}, do: crash}]\n"
          "expect: {outcome: completes}\n");
  EXPECT_THAT(result.cause,
              StartsWith("fault o waits in incarnation 1 of worker 1, which "
                         "ended before: its last step was 2 (fault h (crash "
                         "worker 0 at step.begin, step 3) ended attempt 1: "));
  EXPECT_EQ(result.summary.next,
            "add `after: h`, or set `incarnation: any` inside `at` of fault o; "
            "the run restarts, so set outcome: recovers under expect");
}

// Neither another incarnation nor a later step is reached after the stop.
TEST_F(IdleFaultTest, FaultAfterACleanStop_IsToBeRemoved) {
  for (const char* incarnation :
       {"", ", incarnation: 2", ", incarnation: any"}) {
    const CaseResult result =
        Run("preemption: {requeue: 0}\n"
            "faults: [{id: n, at: {worker: 0, step: 6}, do: preempt, with: "
            "{grace: 5s}}, {id: c, at: {worker: 1, step: 9" +
            std::string(incarnation) +
            "}, do: crash}]\nexpect: {outcome: stops-cleanly}\n");
    EXPECT_EQ(result.cause,
              "the run ended before fault c could fire: fault n stopped the "
              "job at step 6, and it was not started again "
              "(preemption.requeue)");
    EXPECT_EQ(result.summary.next, "remove fault c");
  }
}

TEST_F(IdleFaultTest, RefusalBeforeTheFault_IsTheCause) {
  const CaseResult result =
      Run("faults: [{id: rot, at: {worker: 0, save: 1, point: "
          "ckpt.index.write}, do: bit_flip}, {id: a, at: {worker: 1, step: 6}, "
          "do: crash}, {id: b, after: a, at: {worker: 1, step: 9, incarnation: "
          "2}, do: crash}]\n"
          "expect: {outcome: recovers}\n");
  EXPECT_THAT(result.cause,
              StartsWith("the run ended before fault b could fire: no "
                         "checkpoint can be loaded: "));
  EXPECT_THAT(result.cause, HasSubstr("fault rot"));
  EXPECT_EQ(result.summary.next, "remove fault rot");
}

// Without the damage, it would not be reached either.
TEST_F(IdleFaultTest, FaultOfAnEarlierIncarnation_DoesNotDependOnTheRefusal) {
  const CaseResult result =
      Run("faults: [{id: rot, at: {worker: 0, save: 1, point: "
          "ckpt.index.write}, do: bit_flip}, {id: a, at: {worker: 1, step: 6}, "
          "do: crash}, {id: b, at: {worker: 1, step: 9}, do: crash}]\n"
          "expect: {outcome: recovers}\n");
  EXPECT_THAT(result.cause, StartsWith("fault b waits in incarnation 1"));
  EXPECT_EQ(result.summary.next,
            "add `after: a`, or set `incarnation: any` inside `at` of fault b");
}

TEST_F(IdleFaultTest, IncarnationThatNeverStarted_IsNamed) {
  const CaseResult result =
      Run("faults: [{id: a, at: {worker: 1, step: 6}, do: crash}, {id: b, at: "
          "{worker: 1, incarnation: 3, step: 7}, do: crash}]\n"
          "expect: {outcome: recovers}\n");
  EXPECT_EQ(result.cause,
            "fault b waits for incarnation 3 of worker 1, but the last one "
            "that started is incarnation 2");
}

TEST_F(IdleFaultTest, DamageBehindTheLastFile_IsToComeBeforeIt) {
  const CaseResult result =
      Run("faults: [{id: flip, at: {worker: 1, save: 1, point: "
          "ckpt.shard.fsync}, do: bit_flip, with: {offset: 70%}}, {id: c, at: "
          "{worker: 0, step: 6}, do: crash}]\n"
          "expect: {outcome: recovers}\n");
  EXPECT_EQ(result.cause,
            "fault flip damages the file that worker 1 writes next after "
            "ckpt.shard.fsync, and after that point of save 1 (step 4) it "
            "wrote none in incarnation 1, which fault c ended");
  EXPECT_EQ(result.summary.next,
            "set the point of fault flip to ckpt.shard.write, which is before "
            "the file is written");
}

TEST_F(IdleFaultTest, PointOfALoadInARunWithoutOne_NeedsAnEnd) {
  const CaseResult result =
      Run("faults: [{id: l, at: {worker: 1, point: ckpt.load, incarnation: "
          "any}, do: crash}]\nexpect: {outcome: recovers}\n");
  EXPECT_EQ(result.cause,
            "fault l waits for ckpt.load, which is a point of a load, and the "
            "run loaded no checkpoint");
}

TEST_F(IdleFaultTest, FaultAfterAnotherOne_HasTheReasonOfTheFirst) {
  const CaseResult result =
      Run("faults: [{id: second, after: first, at: {worker: 1, step: 6}, do: "
          "crash}, {id: first, at: {worker: 1, point: ckpt.load, incarnation: "
          "any}, do: crash}]\nexpect: {outcome: recovers}\n");
  EXPECT_THAT(result.cause,
              StartsWith("fault second comes after fault first, which never "
                         "fired: fault first waits for ckpt.load"));
}

TEST_F(IdleFaultTest, FaultAfterOneThatFired_NamesItsStep) {
  const CaseResult result =
      Run("faults: [{id: s, at: {worker: 1, step: 8}, do: slow, with: "
          "{latency: 1ms}}, {id: c, after: s, at: {worker: 0, step: 6}, do: "
          "crash}]\nexpect: {outcome: recovers}\n");
  EXPECT_EQ(result.cause,
            "after fault s had fired (step 8), no occurrence of step.begin in "
            "worker 0 was that of fault c: incarnation 1 reached step 12 and "
            "began 4 saves");
  EXPECT_THAT(result.summary.next,
              HasSubstr("that the run reaches after fault s has fired; "));
}

// The record does not show the points that a worker reached.
TEST_F(IdleFaultTest, OtherPlaces_AdviseToListStepsAndPoints) {
  const CaseResult result =
      Run("faults: [{id: b, at: {worker: 0, point: comm.send, step: 6, "
          "occurrence: 99}, do: crash}]\nexpect: {outcome: completes}\n");
  EXPECT_THAT(result.summary.next,
              HasSubstr("gauntlet show 7/c --all prints the steps and saves of "
                        "each worker, gauntlet list points all points"));
}

TEST_F(IdleFaultTest, FaultOfNoSingleWorker_OccurredInNoWorker) {
  for (const std::string worker : {"any", "all"}) {
    EXPECT_EQ(Run("faults: [{id: b, at: {worker: " + worker +
                  ", point: comm.send, step: 6, occurrence: 99}, do: crash}]\n"
                  "expect: {outcome: completes}\n")
                  .cause,
              "no occurrence of comm.send in any worker was that of fault b: "
              "incarnation 1 reached step 12 and began 4 saves");
  }
}

// Training reaches step 5 before the chief ends the save of step 4.
TEST_F(IdleFaultTest, StepInTheTailOfASave_IsToBeASave) {
  const CaseResult result =
      Run("faults: [{id: e, at: {worker: chief, point: ckpt.end, step: 4}, do: "
          "crash}]\nexpect: {outcome: completes}\n");
  EXPECT_EQ(result.cause,
            "no occurrence of ckpt.end in the chief was that of fault e: "
            "incarnation 1 reached step 12 and began 4 saves");
  EXPECT_EQ(result.summary.next,
            "replace `step` inside `at` of fault e by `save: N`, which selects "
            "the N-th save; at ckpt.end, `step` is the step that training has "
            "reached, not that of the checkpoint; gauntlet show 7/c --all "
            "prints the saves of each worker");
}

TEST_F(IdleFaultTest, OccurrenceThatIsNotReached_IsToBeLowered) {
  const CaseResult result =
      Run("faults: [{id: a, at: {worker: 0, step: 6}, do: crash}, {id: b, at: "
          "{worker: 0, incarnation: 2, point: ckpt.load.read, occurrence: 40}, "
          "do: crash}]\nexpect: {outcome: recovers}\n");
  EXPECT_THAT(result.summary.next,
              StartsWith("lower `occurrence` inside `at` of fault b (40), as "
                         "the point may have been reached fewer times, or "
                         "change `at` of fault b to a point, "));
}

TEST_F(IdleFaultTest, KillThatComesAfterTheExit_IsToComeEarlier) {
  const CaseResult result =
      Run("faults: [{id: k, at: {worker: 0, step: 11}, do: kill, with: "
          "{latency: 20s}}]\nexpect: {outcome: completes}\n");
  EXPECT_EQ(result.verdict.kind, VerdictKind::kError);
  EXPECT_THAT(result.cause,
              MatchesRegex("fault k kills worker 0 20s after its point, but "
                           "the worker exited 0\\.[0-9]+ s after it.*"));
  EXPECT_EQ(result.summary.next,
            "lower the latency of fault k (20s) below that time");
}

TEST_F(IdleFaultTest, NoticeThatIsPolledTooLate_NeedsAShorterInterval) {
  const std::string rest =
      "faults: [{id: p, at: {worker: 1, step: 6}, do: preempt, with: {grace: "
      "20s, by: http}}]\nexpect: {outcome: recovers}\n";
  const CaseResult result = Run("preemption: {poll_every: 30s}\n" + rest);
  EXPECT_EQ(result.verdict.kind, VerdictKind::kError);
  EXPECT_THAT(
      result.cause,
      StartsWith("the notice of fault p was not read: worker 1 ended "));
  EXPECT_THAT(result.cause, HasSubstr(" every preemption.poll_every (30s)"));
  EXPECT_THAT(result.summary.next,
              StartsWith("lower preemption.poll_every (30s) below "));
  const std::string before = "such as to ";
  const size_t value = result.summary.next.find(before);
  ASSERT_NE(value, std::string::npos) << result.summary.next;
  EXPECT_EQ(
      Run("preemption: {poll_every: " +
          result.summary.next.substr(value + before.size()) + "}\n" + rest)
          .verdict.kind,
      VerdictKind::kPass);
}

TEST_F(IdleFaultTest, RunThatGaveUpBefore_NamesItsFaults) {
  const std::string faults =
      "faults: [{id: a, at: {worker: 1, step: 3, incarnation: any}, do: crash, "
      "with: {repeat: always}}, {id: b, at: {worker: 0, step: 9, incarnation: "
      "any}, do: crash}]\nexpect: {outcome: recovers}\n";
  const CaseResult result = Run(faults, ", restart: {max: 2}");
  EXPECT_THAT(result.cause,
              StartsWith("the run ended before fault b could fire: fault a "
                         "(crash worker 1 at step.begin, step 3, incarnation "
                         "any, repeat always) ended attempts 1 to 3"));
  EXPECT_THAT(result.cause, HasSubstr("; the launcher gave up: restarts used "
                                      "up (cluster.restart.max is 2)"));
  EXPECT_THAT(result.summary.next,
              StartsWith("set the repeat of fault a to once"));
  EXPECT_THAT(Run(faults, ", min_workers: 1, restart: {max: 2}").summary.next,
              StartsWith("raise cluster.restart.max (2) to 3 or more, so that "
                         "the launcher leaves out a worker"));
}

TEST_F(IdleFaultTest, ExpectationAboutALossThatDidNotHappen_IsExplained) {
  const CaseResult result =
      Run("faults: [{id: s, at: {worker: 1, step: 6}, do: slow, with: "
          "{latency: 1s}}]\n"
          "expect: {outcome: completes, detected_in: {max: 5s}}\n");
  EXPECT_EQ(result.verdict.kind, VerdictKind::kError);
  EXPECT_EQ(result.cause,
            "no process ended before training was complete, so nothing had to "
            "be restarted");
  EXPECT_EQ(result.summary.next,
            "remove detected_in under expect (c.yaml:13), or add a fault that "
            "ends a worker (do: crash) and set outcome: recovers");
}

TEST_F(IdleFaultTest, InvariantWithNothingToCheck_IsToBeRemovedOrGivenSome) {
  const CaseResult result =
      Run("expect: {outcome: completes, invariants: [trajectory, grace]}\n");
  EXPECT_EQ(result.verdict.reason,
            "grace is expected, but there was nothing to check");
  EXPECT_EQ(result.cause, "");
  EXPECT_EQ(result.summary.next,
            "remove grace from `invariants` under expect (c.yaml:12), or "
            "change the scenario so that the run has something to check "
            "(grace: after a preemption notice, the run saves and stops within "
            "the grace period)");
}

TEST(IdleFaultOfARunTest, OtherReasonsThanAnExpectation_AreNotExplained) {
  Record record;
  record.expect.recomputed_steps_max = 4;
  record.launchers = {{.result = FinalResult{.status = "done"}}};
  CaseResult result = {.verdict = {.kind = VerdictKind::kError,
                                   .reason = "no worker emitted an event"}};
  ExplainIdleFault(record, result);
  EXPECT_EQ(result.summary.next, "");
  result.verdict.reason =
      "recomputed_steps is expected, but nothing was restarted";
  ExplainIdleFault(record, result);
  EXPECT_THAT(result.summary.next, StartsWith("remove recomputed_steps under"));
}

// Attempt 3 would have had worker 1 again.
TEST_F(IdleFaultTest, WorkerOfAnAttemptThatTheLauncherGaveUpBefore_IsNotGone) {
  const CaseResult result = Run(
      "faults: [{id: a, at: {worker: 0, step: 6}, do: crash}, {id: d, after: "
      "a, at: {worker: 0, step: 7, incarnation: 2}, do: crash}, {id: b, at: "
      "{worker: 1, step: 9, incarnation: any}, do: crash}]\n"
      "expect: {outcome: recovers}\n",
      ", workers_per_attempt: [2, 1, 2], restart: {max: 1}");
  EXPECT_EQ(result.verdict.kind, VerdictKind::kError);
  EXPECT_THAT(result.cause,
              StartsWith("the run ended before fault b could fire: "));
}

TEST_F(IdleFaultTest, FaultsThatFiredNeedNoReason) {
  const CaseResult result =
      Run("faults: [{id: a, at: {worker: 1, step: 6}, do: crash}]\n"
          "expect: {outcome: recovers, detected_in: {max: 1h}}\n");
  EXPECT_EQ(result.cause, "");
  EXPECT_EQ(result.summary.next, "");
}

}  // namespace
}  // namespace gauntlet
