// Causes of an outcome that a scenario does not expect.
#include "harness/run/failure/unmet_outcome.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/worker_exit_code.h"
#include "harness/record/record_file.h"
#include "harness/run/case_runner.h"
#include "harness/run/failure/failure_summary.h"
#include "harness/run/failure/history/interruptions.h"
#include "harness/run/files/text_file.h"
#include "tests/engine/real/scratch_directory.h"
#include "tests/harness/run/small_cases.h"

namespace gauntlet {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class UnmetOutcomeTest : public testing::Test {
 protected:
  // Returns the result of the case that `rest` completes. It saves every 4
  // steps and has 12.
  CaseResult Run(const std::string& rest) { return Run(SmallCase(rest)); }
  CaseResult Run(const Case& one) {
    return RunCase(one, {.directory = scratch_.path()},
                   {.world = WorldKind::kSimulated}, references_)
        .result;
  }

  ScratchDirectory scratch_;
  References references_{"", "test"};
};

// The end of a scenario, and the expected cause of its failure.
struct OutcomeCase {
  const char* scenario;
  const char* cause;
};

TEST_F(UnmetOutcomeTest, Cause_IsTheFaultWithItsEffect) {
  const OutcomeCase kCases[] = {
      {"faults: [{id: c, at: {worker: 1, step: 6, incarnation: any}, do: "
       "crash, with: {repeat: always}}]\n"
       "expect: {outcome: recovers}\n",
       "fault c (crash worker 1 at step.begin, step 6, incarnation any, repeat "
       "always) ended attempts 1 to 4; the launcher gave up: restarts used "
       "up (cluster.restart.max is 3)"},
      {"faults: [{id: c, at: {worker: 1, step: 6}, do: hang}]\n"
       "expect: {outcome: completes}\n",
       "fault c (hang worker 1 at step.begin, step 6) ended attempt 1: worker "
       "0 lost rank 1 (deadline: cluster.step_timeout is 30s); the launcher "
       "restarted the job"},
      {"faults: [{id: c, at: {worker: 1, step: 6}, do: crash}]\n"
       "expect: {outcome: completes}\n",
       "fault c (crash worker 1 at step.begin, step 6) ended attempt 1: worker "
       "1 exited with code 70; the launcher restarted the job"},
      // The first launch, and so attempt 1, ends as planned.
      {"launches: [{stop_at_step: 4}, {}]\n"
       "faults: [{id: c, at: {worker: 1, step: 6, incarnation: any}, do: "
       "crash}]\n"
       "expect: {outcome: completes}\n",
       "fault c (crash worker 1 at step.begin, step 6, incarnation any) ended "
       "attempt 2: worker 1 exited with code 70; the launcher restarted the "
       "job"},
      {"launches: [{stop_at_step: 8}, {lr: 0.5}]\n"
       "expect: {outcome: completes}\n",
       "the launcher refused to train (exit code 8): worker 0: "
       "step-000000008-g1 was written by another job: use another checkpoint "
       "directory (--ckpt), or the original settings. optimizer.learning_rate: "
       "0.01 in the checkpoint, 0.5 now"},
      // The first restart is permitted. The faults are listed in another order.
      {"faults: [{id: c, at: {worker: 1, step: 8, incarnation: 3}, do: crash}, "
       "{id: b, at: {worker: 1, step: 7, incarnation: 2}, do: crash}, {id: a, "
       "at: {worker: 1, step: 6}, do: crash}]\n"
       "expect: {outcome: recovers, restarts: {max: 1}}\n",
       "3 faults led to 3 restarts: fault a (crash worker 1 at step.begin, "
       "step 6) ended attempt 1; fault b (crash worker 1 at step.begin, step "
       "7, incarnation 2) ended attempt 2: worker 1 exited with code 70; the "
       "launcher restarted the job; fault c (crash worker 1 at step.begin, "
       "step 8, incarnation 3) ended attempt 3"},
      {"faults: [{id: p, at: {worker: 1, step: 6}, do: preempt, with: {grace: "
       "5s}}]\n"
       "expect: {outcome: stops-cleanly}\n",
       "fault p (preempt worker 1 at step.begin, step 6, grace 5s) ended "
       "attempt 1: the workers agreed to stop at step 6; the launcher was "
       "started again, as a scheduler requeues a job (preemption.requeue)"},
      {"faults: [{id: full, at: {worker: all, incarnation: any, point: "
       "ckpt.shard.open, occurrence: 2}, do: errno, with: {error: ENOSPC, "
       "repeat: always}}]\n"
       "expect: {outcome: completes}\n",
       "the save of step 12 failed: fault full (ENOSPC in "
       "model-00001-of-00002.safetensors); worker 0 exited with code 74 (its "
       "state could not be saved, or the machine lacks resources); the "
       "launcher was started again, as a scheduler requeues a job "
       "(preemption.requeue); fault full (errno all at ckpt.shard.open, "
       "occurrence 2, incarnation any, error ENOSPC, repeat always) ended "
       "attempts 2 and 3"},
      {"faults: [{id: c, at: {worker: 1, step: 6}, do: crash}, {id: e, after: "
       "c, at: {worker: 0, point: ckpt.load.read, incarnation: any}, do: "
       "errno, "
       "with: {repeat: always}}]\n"
       "expect: {outcome: recovers}\n",
       "fault c (crash worker 1 at step.begin, step 6) ended attempt 1; fault "
       "e (errno worker 0 at ckpt.load.read, incarnation any, error EIO, "
       "repeat "
       "always, after c) ended attempts 2 to 4; the launcher gave up: "
       "restarts "
       "used up (cluster.restart.max is 3)"},
      {"preemption: {requeue: 0}\n"
       "faults: [{id: k, at: {worker: 1, step: 6}, do: kill_launcher}]\n"
       "expect: {outcome: recovers}\n",
       "fault k (kill_launcher worker 1 at step.begin, step 6) ended attempt "
       "1; "
       "the launcher was killed (exit code 137) and was not started again "
       "(preemption.requeue is 0)"},
      {"preemption: {requeue: 0}\n"
       "faults: [{id: p, at: {worker: 1, step: 6}, do: preempt, with: {grace: "
       "5s}}]\n"
       "expect: {outcome: recovers}\n",
       "fault p (preempt worker 1 at step.begin, step 6, grace 5s) ended "
       "attempt 1: the workers agreed to stop at step 6; the launcher exited "
       "with code 143 and was not started again (preemption.requeue is 0)"},
      {"faults: [{id: c, at: {worker: 1, step: 6}, do: crash}]\n"
       "expect: {outcome: recovers, restarts: {exactly: 2}}\n",
       "fault c (crash worker 1 at step.begin, step 6) ended attempt 1; the "
       "next attempt completed the training, so nothing else had to be "
       "restarted"},
      {"faults: [{id: c, at: {worker: 1, step: 6}, do: slow, with: {latency: "
       "100ms}}]\n"
       "expect: {outcome: recovers}\n",
       "no process ended before training was complete, so nothing had to be "
       "restarted; fault c delayed worker 1 by only 100ms "
       "(cluster.step_timeout is 30s)"},
      {"faults: [{id: c, at: {worker: 1, step: 3}, do: crash}]\n"
       "expect: {outcome: recovers, resumed_from: {step: 4}}\n",
       "no save had begun when worker 1 exited with code 70 because of fault c "
       "(crash worker 1 at step.begin, step 3), so the run started from "
       "scratch again"},
      {"faults: [{id: c, at: {worker: 1, step: 6}, do: crash}]\n"
       "expect: {outcome: recovers, resumed_from: {step: 8}}\n",
       "no save of step 8 had begun when worker 1 exited with code 70 because "
       "of fault c (crash worker 1 at step.begin, step 6), so the run resumed "
       "from step 4"},
  };
  for (const auto& [scenario, cause] : kCases) {
    const CaseResult result = Run(scenario);
    EXPECT_EQ(result.verdict.kind, VerdictKind::kFail) << scenario;
    EXPECT_EQ(result.cause, cause) << scenario;
  }
}

// Returns SmallCase() with more settings of its cluster.
Case CaseWithCluster(const std::string& settings, const std::string& rest) {
  std::string text = SmallScenario("seed: 7\n" + rest);
  const std::string workers = "{workers: 2";
  text.replace(text.find(workers), workers.size(), workers + ", " + settings);
  return LoadScenarios(text, "c.yaml").cases.at(0);
}

// Worker 1 crashes in attempts 1 to 3; attempt 4 has worker 0 alone.
TEST_F(UnmetOutcomeTest, EachAttemptBeforeAScaleDownIsNamed) {
  EXPECT_EQ(Run(CaseWithCluster(
                    "min_workers: 1",
                    "faults: [{id: c, at: {worker: 1, step: 6, incarnation: "
                    "any}, do: crash, with: {repeat: always}}]\n"
                    "expect: {outcome: completes}\n"))
                .cause,
            "fault c (crash worker 1 at step.begin, step 6, incarnation any, "
            "repeat always) ended attempt 1: worker 1 exited with code 70; the "
            "launcher restarted the job; fault c also ended attempts 2 and 3; "
            "the launcher scaled the cluster down from 2 workers to 1 (attempt "
            "4), as worker 1 had failed 3 times in a row and "
            "cluster.min_workers is 1");
}

// The launcher kills worker 0 after worker 1 has ended.
TEST_F(UnmetOutcomeTest, FirstSignIsNotAKillByTheLauncher) {
  EXPECT_EQ(Run(CaseWithCluster(
                    "min_workers: 1, restart: {max: 6}",
                    "faults: [{id: d, at: {worker: 1, incarnation: any, point: "
                    "cluster.join}, do: crash, with: {repeat: always}}]\n"
                    "expect: {outcome: recovers, restarts: {exactly: 1}}\n"))
                .cause,
            "fault d (crash worker 1 at cluster.join, incarnation any, repeat "
            "always) ended attempt 2: worker 1 exited with code 70; the "
            "launcher restarted the job; fault d also ended attempts 1 and 3; "
            "the launcher scaled the cluster down from 2 workers to 1 (attempt "
            "4), as worker 1 had failed 3 times in a row and "
            "cluster.min_workers is 1");
}

// The slow step ends long before the pause.
TEST_F(UnmetOutcomeTest, ShortDelayBesideAPauseIsNotBlamed) {
  EXPECT_THAT(
      Run(CaseWithCluster(
              "step_timeout: 4s",
              "faults: [{id: h, at: {worker: all, step: 6}, do: pause}, {id: "
              "n, at: {worker: 1, step: 3}, do: slow, with: {latency: "
              "100ms}}]\n"
              "expect: {outcome: recovers, detected_in: {max: 1s}}\n"))
          .cause,
      StartsWith("fault h (pause all at step.begin, step 6) ended attempt 1: "
                 "the launcher lost worker 0 (silent: cluster.step_timeout, "
                 "4s, and cluster.heartbeat.lost_after, 5s, add up to 9s); "));
}

// Returns a run whose worker 1 loses its device in attempt 1. The device stays
// broken, so the worker exits in attempts 2 and 3; attempt 4 has one worker.
Record BrokenDeviceRun() {
  Record record;
  record.faults = {{.id = "d", .kind = "gpu_error", .summary = "gpu_error"}};
  record.incarnations = {
      {.worker = 1,
       .number = 1,
       .events = {
           {.kind = RecordKind::kFaultFired, .t_ns = 11, .detail = "d"}}}};
  LauncherRun& run = record.launchers.emplace_back();
  run.events.push_back({.kind = RecordKind::kLauncherBegin, .t_ns = 1});
  for (int attempt = 1; attempt <= 3; ++attempt) {
    const int64_t t_ns = 10 * attempt;
    run.events.push_back({.kind = RecordKind::kExited,
                          .t_ns = t_ns + 2,
                          .count = 75,
                          .about = 1,
                          .incarnation = attempt,
                          .reason = RecordReason::kExited});
    run.events.push_back({.kind = RecordKind::kAttemptEnds,
                          .t_ns = t_ns + 3,
                          .reason = RecordReason::kWorkerLeft});
    run.events.push_back({.kind = RecordKind::kRestarting, .t_ns = t_ns + 4});
  }
  run.restarts = 3;
  run.result = FinalResult{.status = "done"};
  return record;
}

TEST(AttemptsTest, EndsByALastingFaultAreNamedWithTheirSign) {
  const Record record = BrokenDeviceRun();
  const Verdict verdict = {.broken_expectations = {{.invariant = "expectation",
                                                    .name = "outcome",
                                                    .message = ""}},
                           .facts = {.restarts = 3}};
  EXPECT_EQ(ExplainOutcome(Outline(record), verdict),
            "fault d (gpu_error) ended attempt 1: worker 1 exited with code 75 "
            "(another worker, the disk or the device failed); the launcher "
            "restarted the job; attempts 2 and 3 ended likewise");
}

// Returns a run whose worker 0 exits with this code and reason.
Record FailedRun(int64_t code, const char* reason) {
  Record record;
  record.incarnations = {{.worker = 0,
                          .number = 1,
                          .events = {{.kind = RecordKind::kWorkerExited,
                                      .t_ns = 2,
                                      .count = code,
                                      .detail = reason}}}};
  record.launchers = {
      {.events = {{.kind = RecordKind::kExited,
                   .t_ns = 3,
                   .count = code,
                   .about = 0,
                   .incarnation = 1,
                   .reason = RecordReason::kExited},
                  {.kind = RecordKind::kAttemptEnds,
                   .t_ns = 4,
                   .reason = RecordReason::kWorkerLeft},
                  {.kind = RecordKind::kLauncherEnd, .t_ns = 5}}}};
  return record;
}

TEST(AttemptsTest, ReasonOfAFailureForGoodIsPartOfItsSign) {
  struct ExitCase {
    int64_t code;
    const char* reason;
    const char* text;
  };
  const ExitCase kCases[] = {
      {1, "training finished, but the export failed: model: EIO",
       "attempt 1 ended: worker 0 exited with code 1: training finished, but "
       "the export failed: model: EIO"},
      {1, "", "attempt 1 ended: worker 0 exited with code 1"},
      {75, "worker 1 is lost",
       "attempt 1 ended: worker 0 exited with code 75 (another worker, the "
       "disk or the device failed)"},
  };
  for (const auto& [code, reason, text] : kCases) {
    const Record record = FailedRun(code, reason);
    const Outline outline(record);
    EXPECT_EQ(EndsOfAttempts(outline, InterruptionsOf(outline)),
              std::vector<std::string>{text});
  }
}

TEST_F(UnmetOutcomeTest, WorkerThatRejoined_IsRestartedAlone) {
  EXPECT_EQ(Run(CaseWithCluster(
                    "restart: {policy: rejoin}",
                    "faults: [{id: c, at: {worker: 1, step: 6}, do: hang}]\n"
                    "expect: {outcome: completes}\n"))
                .cause,
            "fault c (hang worker 1 at step.begin, step 6) interrupted attempt "
            "1: worker 0 lost rank 1 (deadline: cluster.step_timeout is 30s); "
            "the launcher restarted worker 1 alone (cluster.restart.policy is "
            "rejoin)");
}

TEST_F(UnmetOutcomeTest, DelaysOfFramesThatAddUpAreTheCause) {
  EXPECT_THAT(
      Run(CaseWithCluster("step_timeout: 4s",
                          "faults: [{id: d, at: {worker: 1, step: 6}, do: "
                          "delay, with: {latency: 3s}}]\n"
                          "expect: {outcome: completes}\n"))
          .cause,
      AllOf(StartsWith(
                "fault d (delay worker 1 at step.begin, step 6, latency 3s) "
                "ended attempt 1: worker 0 lost rank 1 (deadline: "
                "cluster.step_timeout is 4s), as delays add up: fault d made "),
            EndsWith("(heartbeats among them), and 2 frames of an exchange, "
                     "one after the other, take 6s (3s each); the launcher "
                     "restarted the job")));
}

TEST_F(UnmetOutcomeTest, FailedExportIsTheCauseWithItsReason) {
  EXPECT_THAT(
      Run("outputs: {export: true}\n"
          "faults: [{id: e, at: {worker: 0, point: export.write}, do: errno, "
          "with: {repeat: always}}]\n"
          "expect: {outcome: completes}\n")
          .cause,
      AllOf(StartsWith("fault e (errno worker 0 at export.write, error EIO, "
                       "repeat always in incarnation 1) ended attempt 1: "
                       "worker 0 exited with "
                       "code 1: training finished, but the export failed: "),
            EndsWith("; the launcher exited with code 1")));
}

TEST_F(UnmetOutcomeTest, FullDiskIsTheCauseOfARunThatCannotSave) {
  EXPECT_THAT(
      Run("disk: {capacity: 32KiB}\nexpect: {outcome: completes}\n").cause,
      AllOf(StartsWith("the save of step 12 failed: "
                       "model-00001-of-00002.safetensors: disk full: "),
            HasSubstr("; worker 0 exited with code 74 ("),
            EndsWith("; attempts 1 to 8 ended likewise; the launcher exited "
                     "with code 75")));
}

TEST_F(UnmetOutcomeTest, GracePeriodTooShortForASave_NamesTheSave) {
  EXPECT_THAT(
      Run("preemption: {requeue: 0}\n"
          "faults: [{id: s, at: {worker: 0, save: 2, point: ckpt.shard.write}, "
          "do: slow, with: {latency: 5s}}, {id: p, at: {worker: 1, step: 8, "
          "point: step.end}, do: preempt, with: {grace: 1s}}]\n"
          "expect: {outcome: stops-cleanly}\n")
          .cause,
      AllOf(StartsWith("fault s (slow, 5s) delayed the save of step 8, which "
                       "was still being written when worker 1 was killed "
                       "because of fault p (preempt worker 1 at step.end, step "
                       "8, grace 1s), 1.0 s after the notice; the save had run "
                       "for "),
            EndsWith(
                "; the launcher restarted the job: a killed worker counts as a "
                "loss, so cluster.restart.max applies, not "
                "preemption.requeue (in simulated time)")));
}

// Returns the events of a worker whose save failed because of a fault.
// `exited`: the worker then exits, because it could not save its state.
std::vector<RecordEvent> FailedSave(int64_t begin_ns, bool exited) {
  const std::string error = "/ckpt/a.tmp/MANIFEST.json: write: injected EIO";
  std::vector<RecordEvent> events = {
      {.kind = RecordKind::kSaveBegin, .t_ns = begin_ns, .step = 8},
      {.kind = RecordKind::kFaultFired, .t_ns = begin_ns + 1, .detail = "e"},
      {.kind = RecordKind::kSaveFailed,
       .t_ns = begin_ns + 2,
       .step = 8,
       .detail = error}};
  if (exited) {
    events.push_back({.kind = RecordKind::kWorkerExited,
                      .t_ns = begin_ns + 3,
                      .step = 8,
                      .count = static_cast<int64_t>(WorkerExit::kStartLater),
                      .detail = error,
                      .reason = RecordReason::kDiskError});
  }
  return events;
}

TEST(HangTest, TimeUsedUpByRequeuesNamesTheFaultOnce) {
  Record record;
  record.ending = RunEnding::kTimedOut;
  record.setup.step_timeout_ns = 30'000'000'000;
  record.setup.longest_run_ns = 120'000'000'000;
  record.faults = {
      {.id = "e", .kind = "errno", .summary = "errno", .in_save = true}};
  record.incarnations = {{.number = 1, .events = FailedSave(10, true)},
                         {.number = 2, .events = FailedSave(30, false)}};
  record.launchers = {
      {.events = {{.kind = RecordKind::kLauncherBegin},
                  {.kind = RecordKind::kExited,
                   .t_ns = 14,
                   .count = static_cast<int64_t>(WorkerExit::kStartLater),
                   .about = 0,
                   .incarnation = 1,
                   .reason = RecordReason::kExited},
                  {.kind = RecordKind::kAttemptEnds,
                   .t_ns = 15,
                   .reason = RecordReason::kWorkerLeft},
                  {.kind = RecordKind::kLauncherEnd, .t_ns = 16}}},
      {.events = {{.kind = RecordKind::kLauncherBegin, .t_ns = 20}}}};
  EXPECT_EQ(
      ExplainHang(Outline(record)),
      "the save of step 8 failed: fault e (EIO in MANIFEST.json); worker 0 "
      "exited with code 74 (its state could not be saved, or the machine lacks "
      "resources); the launcher was started again, as a scheduler requeues a "
      "job (preemption.requeue); since then the save of step 8 failed: fault e "
      "(EIO in MANIFEST.json); no process ended and no worker was declared "
      "lost (cluster.step_timeout is 30s); the run did not end within 2m "
      "(timeout.total)");
}

TEST_F(UnmetOutcomeTest, UndetectedHang_IsTheCause) {
  EXPECT_EQ(
      Run(CaseWithCluster(
              "step_timeout: 10m",
              "timeout: {hang: 31s, total: 50s}\n"
              "faults: [{id: c, at: {worker: all, step: 6}, do: hang}]\n"
              "expect: {outcome: recovers}\n"))
          .cause,
      "fault c (hang all at step.begin, step 6) fired; no process ended "
      "and no worker was declared lost (cluster.step_timeout is 10m, and "
      "a worker with a hung task still sends heartbeats, so that no "
      "other limit finds it); the run did not end within 50s (timeout.total)");
}

// The run waits for a slow save. The task that hung continued long before that
// save.
TEST_F(UnmetOutcomeTest, HangThatHasEnded_IsNoHungTask) {
  EXPECT_THAT(
      Run(CaseWithCluster(
              "step_timeout: 10m",
              "timeout: {total: 40s}\n"
              "faults: [{id: h, at: {worker: 1, step: 3}, do: hang, with: "
              "{duration: 1s}}, {id: q, at: {worker: 0, save: 1, point: "
              "ckpt.shard.write}, do: slow, with: {latency: 5m}}]\n"
              "expect: {outcome: recovers}\n"))
          .cause,
      AllOf(HasSubstr("no process ended and no worker was declared lost ("),
            Not(HasSubstr("hung task"))));
}

// Each worker declares the other one lost. This ends the attempt, and no event
// follows.
TEST_F(UnmetOutcomeTest, TimeUsedUpAtTheEndOfAnAttempt_HasNoLaterSign) {
  EXPECT_EQ(
      Run(CaseWithCluster(
              "topology: one_host_per_worker, heartbeat: {lost_after: 1s}",
              "timeout: {total: 40s}\n"
              "faults: [{id: c, at: {worker: 1, step: 6, incarnation: any}, "
              "do: "
              "partition, with: {repeat: always}}]\n"
              "expect: {outcome: recovers}\n"))
          .cause,
      "fault c (partition worker 1 at step.begin, step 6, incarnation any, "
      "repeat always) ended attempt 4: worker 1 lost rank 0 (silent: rank 0 "
      "sent nothing in time, cluster.heartbeat.lost_after is 1s); fault c "
      "also ended attempts 1 to 3; the launcher had neither restarted the job "
      "nor given up since then "
      "(attempts 1 to 3 took up to 10.1 s each); the run "
      "did not end within 40s (timeout.total) (in simulated time)");
}

TEST_F(UnmetOutcomeTest, FaultThatOutlastsARejoinIsTheCause) {
  EXPECT_EQ(
      Run(CaseWithCluster(
              "restart: {policy: rejoin}",
              "timeout: {total: 40s}\n"
              "faults: [{id: c, at: {worker: 1, step: 6, point: comm.send}, "
              "do: asymmetric_partition, with: {direction: outbound}}]\n"
              "expect: {outcome: recovers}\n"))
          .cause,
      "fault c (asymmetric_partition worker 1 at comm.send, step 6) "
      "interrupted "
      "attempt 1: worker 0 lost rank 1 (silent: rank 1 sent nothing in time, "
      "cluster.heartbeat.lost_after is 5s); the launcher restarted the lost "
      "worker alone (cluster.restart.policy is rejoin); since then no process "
      "ended and no worker was declared lost (the rejoin limit that follows "
      "from cluster.save_timeout is 640s); the run did not end within 40s "
      "(timeout.total)");
}

// In real processes, such a run may hang. The attempt is part of the cause
// then, too.
TEST_F(UnmetOutcomeTest, HangDuringARejoin_NamesTheFaultBefore) {
  Run(CaseWithCluster(
      "restart: {policy: rejoin}",
      "timeout: {total: 40s}\n"
      "faults: [{id: c, at: {worker: 1, step: 6, point: comm.send}, do: "
      "asymmetric_partition}]\n"
      "expect: {outcome: recovers}\n"));
  Parsed<Record> read =
      ReadRecord(ReadTextFile(scratch_.path() + "/record.jsonl"), "r");
  ASSERT_TRUE(read.value.has_value());
  Record& record = *read.value;
  record.ending = RunEnding::kHung;
  EXPECT_THAT(ExplainHang(Outline(record)),
              StartsWith("fault c (asymmetric_partition worker 1 at comm.send, "
                         "step 6) interrupted attempt 1: "));
}

TEST_F(UnmetOutcomeTest, StepsThatDoNotFitIntoTheTotalAreTheCause) {
  EXPECT_EQ(
      Run(CaseWithCluster(
              "step_time: 3s",
              "timeout: {total: 20s}\n"
              "faults: [{id: c, at: {worker: 1, step: 3}, do: crash}]\n"
              "expect: {outcome: recovers}\n"))
          .cause,
      "12 steps of 3.000 s each do not fit into timeout.total (20s); fault c "
      "(crash worker 1 at step.begin, step 3) ended attempt 1: worker 1 exited "
      "with code 70; the launcher restarted the job; since then no process "
      "ended "
      "and no worker was declared lost (cluster.step_timeout is 30s); the run "
      "did "
      "not end within 20s (timeout.total) (in simulated time)");
}

// The launcher of a run that timed out reports no restarts. The run's events
// have them.
TEST_F(UnmetOutcomeTest, RestartsOfARunThatTimedOutAreCounted) {
  const CaseResult result =
      Run(CaseWithCluster("step_time: 3s",
                          "timeout: {total: 20s}\n"
                          "faults: [{id: c, at: {worker: 1, step: 3}, do: "
                          "crash}]\nexpect: {outcome: recovers}\n"));
  EXPECT_EQ(result.verdict.facts.restarts, 1u);
  EXPECT_EQ(result.summary.recovery.find("1 restart; "), 0u)
      << result.summary.recovery;
}

TEST_F(UnmetOutcomeTest, LateDetectionNamesTheFaultAndTheLimits) {
  const OutcomeCase kCases[] = {
      {"faults: [{id: c, at: {worker: 1, step: 6}, do: hang}]\n"
       "expect: {outcome: recovers, detected_in: {max: 10ms}}\n",
       "fault c (hang worker 1 at step.begin, step 6) ended attempt 1: worker "
       "0 "
       "lost rank 1 (deadline: cluster.step_timeout is 30s); the launcher "
       "restarted the job; a worker with a hung task still sends heartbeats, "
       "so only cluster.step_timeout detects it; rank 1 was declared lost "
       "after 30.000 s, expected at most 0.010 s (expect.detected_in.max is "
       "10ms)"},
      {"faults: [{id: c, at: {worker: 1, step: 6}, do: pause, with: {duration: "
       "9s}}]\n"
       "expect: {outcome: recovers, detected_in: {max: 3s}}\n",
       "fault c (pause worker 1 at step.begin, step 6, for 9s) ended attempt "
       "1: "
       "worker 0 lost rank 1 (silent: rank 1 sent nothing in time, "
       "cluster.heartbeat.lost_after is 5s); the "
       "launcher restarted the job; rank 1 was declared lost after 4.980 s, "
       "expected at most 3.000 s (expect.detected_in.max is 3s)"},
      {"faults: [{id: c, at: {worker: 1, save: 1, point: ckpt.shard.write}, "
       "do: hang}]\n"
       "expect: {outcome: recovers, detected_in: {max: 3s}}\n",
       "fault c (hang worker 1 at ckpt.shard.write, save 1) ended attempt 1: "
       "worker 0 lost rank 1 (deadline: cluster.save_timeout is 5m); the "
       "launcher restarted the job; a worker with a hung task still sends "
       "heartbeats, so only cluster.save_timeout detects it; rank 1 was "
       "declared lost after 300.003 s, expected at most 3.000 s "
       "(expect.detected_in.max is 3s)"},
  };
  for (const auto& [scenario, cause] : kCases) {
    EXPECT_EQ(Run(scenario).cause, std::string(cause) + " (in simulated time)")
        << scenario;
  }
}

TEST_F(UnmetOutcomeTest, MissingRestart_NamesTheFaultsThatOnlyDelayed) {
  EXPECT_THAT(
      Run("faults: [{id: c, at: {worker: 1, step: 6}, do: crash}, {id: late, "
          "at: {worker: 0, step: 9, incarnation: 2}, do: slow, with: {latency: "
          "200ms}}]\n"
          "expect: {outcome: recovers, restarts: {exactly: 2}}\n")
          .cause,
      testing::EndsWith("; fault late delayed worker 0 by only 200ms "
                        "(cluster.step_timeout is 30s)"));
  EXPECT_THAT(
      Run("faults: [{id: late, at: {worker: 0, step: 9}, do: slow, with: "
          "{latency: 200ms}}]\n"
          "expect: {outcome: recovers}\n")
          .cause,
      testing::HasSubstr("; fault late delayed worker 0 by only 200ms"));
}

TEST_F(UnmetOutcomeTest, PlantedBugPrecedesTheFirstViolation) {
  EXPECT_EQ(Run("planted_bugs: die-in-a-step\n"
                "expect: {outcome: completes}\n")
                .cause,
            "with the planted bug die-in-a-step, worker 1, incarnation 1 ended "
            "(exit code 70) without an exit event, and no recorded cause "
            "explains it");
  EXPECT_EQ(Run(CaseWithCluster(
                    "restart: {policy: rejoin}",
                    "planted_bugs: forget-at-rejoin\n"
                    "faults: [{id: k, at: {worker: 1, step: 7}, do: kill}]\n"
                    "expect: {outcome: recovers}\n"))
                .cause,
            "with the planted bug forget-at-rejoin, generation 2 resumed from "
            "step 4, but worker 0, incarnation 1 had trained to step 6");
}

TEST_F(UnmetOutcomeTest, LauncherThatNeverRestarts_GivesUpWithoutAViolation) {
  Case one = SmallCase(
      "faults: [{id: c, at: {worker: 1, step: 6}, do: crash}]\n"
      "expect: {outcome: recovers}\n");
  one.cluster.policy = RestartPolicy::kNone;
  const CaseResult result = Run(one);
  EXPECT_EQ(result.verdict.reason, "outcome");
  EXPECT_EQ(result.cause,
            "fault c (crash worker 1 at step.begin, step 6) ended attempt 1; "
            "the launcher gave up: cluster.restart.policy is none, so no "
            "restart is allowed");
}

TEST_F(UnmetOutcomeTest, ViolatedInvariantLeavesTheOutcomeUnexplained) {
  const CaseResult result =
      Run("planted_bugs: lose-rng-key\n"
          "faults: [{id: c, at: {worker: 1, step: 6}, do: crash}]\n"
          "expect: {outcome: completes}\n");
  ASSERT_EQ(result.verdict.kind, VerdictKind::kFail);
  EXPECT_FALSE(result.verdict.broken_expectations.empty());
  EXPECT_THAT(result.cause, StartsWith("with the planted bug lose-rng-key, "));
  EXPECT_THAT(result.cause, Not(HasSubstr("ended attempt")));
}

}  // namespace
}  // namespace gauntlet
