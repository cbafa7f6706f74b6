// Advice on failed cases.
#include "harness/run/failure/advice.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/run/case_runner.h"
#include "tests/engine/real/scratch_directory.h"
#include "tests/harness/run/small_cases.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// Returns the result of a case whose only check passed, and whose expectations
// are not met.
CaseResult UnmetResult(std::vector<Finding> unmet) {
  return {
      .file = "full.yaml",
      .expect_line = 9,
      .verdict = {.kind = VerdictKind::kFail,
                  .fails_only_expectations = true,
                  .invariants = {{.invariant = "trajectory", .instances = 158}},
                  .broken_expectations = std::move(unmet)}};
}

std::string AdviceWithoutRecord(const CaseResult& result) {
  const Record record;
  return AdviceOn(Outline(record), result);
}

// The end of an advice on a run whose record shows no remedy.
constexpr std::string_view kLook =
    "the run must change: look in its timeline for the first event that you do "
    "not expect (gauntlet show RUN/CASE --all)";

TEST(AdviceTest, UnmetExpectations_AreReplacedByTheFoundValues) {
  struct MetCase {
    std::vector<Finding> unmet;
    const char* advice;
  };
  const Finding outcome = {"expectation", "outcome", "m", "outcome: completes"};
  const Finding epoch = {"expectation", "ends_at.epoch", "m",
                         "ends_at: {epoch: 2}"};
  const Finding step = {"expectation", "ends_at.step", "m",
                        "ends_at: {step: 8}"};
  const Finding no_epoch = {"expectation", "ends_at.epoch", "m", "no ends_at"};
  const Finding no_step = {"expectation", "ends_at.step", "m", "no ends_at"};
  const Finding never = {"expectation", "outcome", "found none, as it hung"};
  const MetCase kCases[] = {
      {{outcome},
       "if the run was right, set outcome: completes under expect "
       "(full.yaml:9); if the expectation is right, "},
      {{epoch, outcome, step},
       "if the run was right, set ends_at: {epoch: 2, step: 8}, outcome: "
       "completes under expect (full.yaml:9); if the expectations are right, "},
      {{no_epoch, no_step},
       "if the run was right, remove ends_at under expect (full.yaml:9); if "
       "the expectations are right, "},
      {{no_epoch, outcome},
       "if the run was right, set outcome: completes and remove ends_at under "
       "expect (full.yaml:9); if the expectations are right, "},
      {{outcome, never}, "if the expectations are right, "},
  };
  for (const auto& [unmet, advice] : kCases) {
    EXPECT_EQ(AdviceWithoutRecord(UnmetResult(unmet)),
              std::string(advice).append(kLook));
  }
}

TEST(AdviceTest, Place_HasNoLine_IfTheLineOfExpectIsUnknown) {
  CaseResult result = UnmetResult({{"expectation", "saves", "m", "no saves"}});
  result.expect_line = 0;
  EXPECT_EQ(AdviceWithoutRecord(result),
            "if the run was right, remove saves under expect (full.yaml); if "
            "the expectation is right, change checkpoint.every or job.epochs "
            "(0), which set when saves are due");
}

TEST(AdviceTest, FailedCheckHasNoAdviceOnExpectations) {
  CaseResult result = UnmetResult({{"expectation", "saves", "m", "no saves"}});
  result.verdict.invariants.push_back(
      {.invariant = "store", .instances = 1, .violations = 1});
  EXPECT_EQ(AdviceWithoutRecord(result), "");
}

class AdviceOnRunTest : public testing::Test {
 protected:
  // Returns the advice on SmallScenario(`rest`), with `cluster` added to the
  // settings of its cluster.
  std::string Advice(const std::string& cluster, const std::string& rest) {
    std::string text = SmallScenario("seed: 7\n" + rest);
    const std::string workers = "{workers: 2";
    text.replace(text.find(workers), workers.size(), workers + cluster);
    return Run(text).summary.next;
  }

  // Returns the result of a case in which the chief crashes at a point of a
  // save. The case expects a resume from the step `expected`. `mode`:
  // checkpoint.mode.
  CaseResult RunCrashInSave(std::string_view mode, uint64_t save,
                            std::string_view point, uint64_t expected) {
    std::string text = SmallScenario(fmt::format(
        "seed: 7\nfaults: [{{id: x, at: {{worker: chief, save: {}, point: "
        "{}}}, do: crash}}]\nexpect: {{outcome: recovers, resumed_from: "
        "{{step: {}}}}}\n",
        save, point, expected));
    const std::string keep = "keep: 2";
    text.replace(text.find(keep), keep.size(),
                 fmt::format("{}, mode: {}", keep, mode));
    return Run(text);
  }

  // Returns the result of the first case of the scenario.
  CaseResult Run(const std::string& scenario) {
    const LoadedFile loaded = LoadScenarios(scenario, "c.yaml");
    CHECK(loaded.errors.empty(), RenderErrors(loaded, "c.yaml", scenario));
    return RunCase(
               loaded.cases.at(0),
               {.directory = scratch_.path(), .replay = "gauntlet replay 7/c"},
               {.world = WorldKind::kSimulated}, references_)
        .result;
  }

  ScratchDirectory scratch_;
  References references_{"", "test"};
};

// Settings of the cluster, the end of a scenario, and the advice on its
// failure.
struct AdviceCase {
  const char* cluster;
  const char* rest;
  const char* advice;
};

TEST_F(AdviceOnRunTest, AdvisesToChangeTheCause) {
  const AdviceCase kCases[] = {
      {"", "disk: {capacity: 32KiB}\nexpect: {outcome: completes}\n",
       "if the run was right, set outcome: retry-later under expect "
       "(c.yaml:13); if the expectation is right, raise disk.capacity"},
      {", restart: {max: 1}",
       "faults: [{id: c, at: {worker: 1, step: 6, incarnation: any}, do: "
       "crash, with: {repeat: always}}]\nexpect: {outcome: recovers}\n",
       "if the run was right, set outcome: fails under expect (c.yaml:13); if "
       "the expectation is right, set the repeat of fault c to once: it "
       "ends each attempt, so more restarts do not help"},
      // Each fault ends one attempt, so another restart helps.
      {", restart: {max: 1}",
       "faults: [{id: a, at: {worker: 1, step: 6}, do: crash}, {id: b, at: "
       "{worker: 1, step: 7, incarnation: 2}, do: crash}]\n"
       "expect: {outcome: recovers}\n",
       "if the run was right, set outcome: fails under expect (c.yaml:13); if "
       "the expectation is right, raise cluster.restart.max (1) to 2 or more"},
      // A run that completes has no restart.
      {", restart: {max: 0}",
       "faults: [{id: a, at: {worker: 1, step: 6}, do: crash}]\n"
       "expect: {outcome: completes}\n",
       "if the run was right, set outcome: fails under expect (c.yaml:13); if "
       "the expectation is right, remove fault a, which ended attempt 1"},
      // If one partition is shorter, the run still has a restart.
      {", restart: {max: 1}",
       "faults: [{id: a, at: {worker: 1, step: 6}, do: partition}, {id: b, at: "
       "{worker: 1, step: 7, incarnation: 2}, do: partition}]\n"
       "expect: {outcome: recovers}\n",
       "if the run was right, set outcome: fails under expect (c.yaml:13); if "
       "the expectation is right, raise cluster.restart.max (1) to 2 or more; "
       "or set the duration of fault b, which has no end, to 2500ms or less, "
       "well below cluster.heartbeat.lost_after (5s)"},
      {"",
       "faults: [{id: a, at: {worker: 1, step: 6}, do: partition}]\n"
       "expect: {outcome: recovers, restarts: {max: 0}, resumed_from: {step: "
       "4}}\n",
       "if the run was right, set restarts: {max: 1} under expect "
       "(c.yaml:13); if the expectation is right, set the duration of fault a, "
       "which has no end, to 2500ms or less, well below "
       "cluster.heartbeat.lost_after (5s), and set outcome: completes, "
       "without resumed_from, as the run then needs no restart"},
      // The launcher gives up without progress.
      {", restart: {max: 20}",
       "faults: [{id: c, at: {worker: 1, step: 6, incarnation: any}, do: "
       "crash, with: {repeat: always}}]\nexpect: {outcome: recovers}\n",
       "if the run was right, set outcome: fails under expect (c.yaml:13); if "
       "the expectation is right, set the repeat of fault c to once: it "
       "ends each attempt, so more restarts do not help"},
      {"",
       "faults: [{id: e, at: {worker: 0, incarnation: any, point: "
       "ckpt.shard.open}, do: errno, with: {repeat: always}}]\n"
       "expect: {outcome: completes}\n",
       "if the run was right, set outcome: retry-later under expect "
       "(c.yaml:13); if the expectation is right, limit fault e (set its "
       "repeat to once, or end it with until)"},
      {"",
       "preemption: {requeue: 0}\n"
       "faults: [{id: k, at: {worker: 1, step: 6}, do: kill_launcher}]\n"
       "expect: {outcome: recovers}\n",
       "if the expectation is right, raise preemption.requeue (0) to 1, so "
       "that "
       "the job starts again after its launcher was killed; no outcome in "
       "expect describes a run that ends with its launcher killed"},
      {", restart: {policy: none}",
       "faults: [{id: c, at: {worker: 1, step: 6}, do: crash}]\n"
       "expect: {outcome: recovers}\n",
       "if the run was right, set outcome: fails under expect (c.yaml:13); if "
       "the expectation is right, set cluster.restart.policy to "
       "whole-job or rejoin"},
      {"",
       "faults: [{id: p, at: {worker: 1, step: 6}, do: preempt, with: {grace: "
       "5s}}]\nexpect: {outcome: stops-cleanly}\n",
       "if the run was right, set outcome: recovers under expect (c.yaml:13); "
       "if the expectation is right, set preemption.requeue to 0, so "
       "that the job does not start again after its stop"},
      {"",
       "preemption: {requeue: 0}\n"
       "faults: [{id: p, at: {worker: 1, step: 6}, do: preempt, with: {grace: "
       "5s}}]\nexpect: {outcome: recovers}\n",
       "if the run was right, set outcome: stops-cleanly under expect "
       "(c.yaml:14); if the expectation is right, raise preemption.requeue "
       "(0) to 1, so that the job starts again after its stop"},
      // Without the requeue, the job stops but resumes from no checkpoint.
      {"",
       "faults: [{id: p, at: {worker: 1, step: 6}, do: preempt, with: {grace: "
       "5s}}]\nexpect: {outcome: stops-cleanly, resumed_from: {step: 4}}\n",
       "if the run was right, set outcome: recovers, resumed_from: {step: 6} "
       "under expect (c.yaml:13); if the expectations are right, set "
       "preemption.requeue to 0, so that the job does not start again after "
       "its stop; this meets outcome, but not resumed_from, as the job then "
       "resumes from no checkpoint"},
      {"",
       "faults: [{id: p, at: {worker: 1, step: 6}, do: preempt, with: {grace: "
       "5s}}]\nexpect: {outcome: stops-cleanly, resumed_from: {step: 6}}\n",
       "if the run was right, set outcome: recovers under expect (c.yaml:13); "
       "if the expectation is right, set preemption.requeue to 0, so that the "
       "job does not start again after its stop; this meets outcome, but not "
       "resumed_from, as the job then resumes from no checkpoint"},
      {"",
       "preemption: {requeue: 0}\n"
       "faults: [{id: p, at: {worker: 1, step: 6}, do: preempt, with: {grace: "
       "5s}}]\nexpect: {outcome: stops-cleanly, resumed_from: {step: 4}}\n",
       "if the run was right, remove resumed_from under expect (c.yaml:14); "
       "if the expectation is right, add a fault that ends a worker (do: "
       "crash) in incarnation 1, and let fault p fire in incarnation 2"},
      // The resume came before the stop, so it was not caused by a requeue.
      {"",
       "faults: [{id: c, at: {worker: 1, step: 6}, do: crash}, {id: p, at: "
       "{worker: 1, step: 7, incarnation: 2}, do: preempt, with: {grace: "
       "5s}}]\nexpect: {outcome: stops-cleanly, resumed_from: {step: 8}}\n",
       "if the run was right, set outcome: recovers, resumed_from: {step: 4} "
       "under expect (c.yaml:13); if the expectations are right, set "
       "preemption.requeue to 0, so that the job does not start again after "
       "its stop; this meets outcome, but not resumed_from, as the job still "
       "resumes from step 4"},
      // The fault ends each start, so the number of starts must be known.
      {"",
       "preemption: {requeue: 2}\n"
       "faults: [{id: p, at: {worker: 1, point: step.begin, incarnation: any}, "
       "do: preempt, with: {grace: 5s, repeat: always}}]\n"
       "expect: {outcome: recovers}\n",
       "if the run was right, set outcome: stops-cleanly under expect "
       "(c.yaml:14); if the expectation is right, limit fault p (set its "
       "repeat to once, or end it with until), as it ends each start; or "
       "raise preemption.requeue (2) to 11, as each start trains 1 step, and 9 "
       "are left"},
      // If the fault is limited, it fails one save, and so ends no attempt.
      {"",
       "faults: [{id: e, at: {worker: 0, incarnation: any, point: "
       "ckpt.shard.open}, do: errno, with: {repeat: always}}]\n"
       "expect: {outcome: recovers, saves: {exactly: 3}}\n",
       "if the run was right, set outcome: retry-later, saves: {exactly: 0} "
       "under expect (c.yaml:13); if the expectations are right, limit fault e "
       "(set its repeat to once, or end it with until) and set outcome: "
       "completes, as the run then "
       "needs no restart; each save that still "
       "fails counts in saves, failed_saves and checkpoints"},
      // Two faults end the attempts in turn, before a step is trained.
      {", restart: {max: 6}",
       "faults: [{id: a, at: {worker: 0, incarnation: any, point: "
       "cluster.join}, do: crash, with: {repeat: always}}, {id: b, at: "
       "{worker: 1, incarnation: any, point: cluster.join}, do: crash, with: "
       "{repeat: always}}]\nexpect: {outcome: recovers}\n",
       "if the run was right, set outcome: fails under expect (c.yaml:13); if "
       "the expectation is right, set the repeat of faults a and b to once: "
       "one of them ends each attempt, so more restarts do not help"},
      // Nothing was restarted or lost, so the case would be inconclusive.
      {"",
       "faults: [{id: s, at: {worker: 1, step: 6}, do: slow, with: {latency: "
       "1s}}]\nexpect: {outcome: recovers, recomputed_steps: {max: 4}, "
       "epochs_after_restart: {exactly: 2}, detected_in: {max: 1s}}\n",
       "if the run was right, set outcome: completes and remove "
       "epochs_after_restart, recomputed_steps, detected_in under expect "
       "(c.yaml:13); if the expectations are right, set the latency of fault s "
       "(1s) to 1m, well above cluster.step_timeout (30s), the limit of a wait "
       "for the worker"},
      // A fault failed the save, not the disk.
      {"",
       "disk: {capacity: 10MiB}\n"
       "faults: [{id: e, at: {worker: 0, save: 1, point: ckpt.shard.open}, do: "
       "errno}]\nexpect: {outcome: completes, failed_saves: {exactly: 0}}\n",
       "if the run was right, set failed_saves: {exactly: 1} under expect "
       "(c.yaml:14); if the expectation is right, remove fault e"},
      {"",
       "faults: [{id: e, at: {worker: 0, point: ckpt.shard.open}, do: errno, "
       "with: {consecutive: 2}}]\n"
       "expect: {outcome: completes, failed_saves: {exactly: 1}}\n",
       "if the run was right, set failed_saves: {exactly: 2} under expect "
       "(c.yaml:13); if the expectation is right, set consecutive of fault e "
       "(2) to 1"},
      {"",
       "faults: [{id: e, at: {worker: 0, point: ckpt.shard.open}, do: errno, "
       "with: {repeat: always}, until: {step: 11}}]\n"
       "expect: {outcome: completes, failed_saves: {exactly: 1}}\n",
       "if the run was right, set failed_saves: {exactly: 2} under expect "
       "(c.yaml:13); if the expectation is right, set until of fault e (step "
       "11) to {step: 8}, the first step without the fault, so that the save "
       "of step 8 does not fail"},
      // A hang without an end is a delay, too.
      {", restart: {max: 1}",
       "faults: [{id: h, at: {worker: 1, step: 6, incarnation: any}, do: hang, "
       "with: {repeat: always}}]\nexpect: {outcome: recovers}\n",
       "if the run was right, set outcome: fails under expect (c.yaml:13); if "
       "the expectation is right, set the repeat of fault h to once: it "
       "ends each attempt, so more restarts do not help; or set the duration "
       "of fault h, which has no end, to 15s or less, well below "
       "cluster.step_timeout (30s), and set outcome: completes, "
       "as the run then needs no restart"},
      // A partition outlasts the limit of heartbeats.
      {"",
       "faults: [{id: n, at: {worker: 1, step: 6}, do: partition, with: "
       "{duration: 20s}}]\nexpect: {outcome: completes}\n",
       "if the run was right, set outcome: recovers under expect (c.yaml:13); "
       "if the expectation is right, set the duration of fault n (20s) to "
       "2500ms or less, well below cluster.heartbeat.lost_after (5s)"},
      // The job continues with fewer workers.
      {", min_workers: 1",
       "faults: [{id: c, at: {worker: 1, step: 6, incarnation: any}, do: "
       "crash, with: {repeat: always}}]\nexpect: {outcome: fails}\n",
       "if the run was right, set outcome: recovers under expect (c.yaml:13); "
       "if the expectation is right, raise cluster.min_workers (1) to 2, so "
       "that the job does not go on with fewer workers"},
      // Each frame is late by less than the limit.
      {", step_timeout: 4s",
       "faults: [{id: d, at: {worker: 1, step: 6}, do: delay, with: {latency: "
       "3s}}]\nexpect: {outcome: completes}\n",
       "if the run was right, set outcome: recovers under expect (c.yaml:13); "
       "if the expectation is right, lower the latency of fault d (3s), as "
       "delays that add up (6s) must stay below cluster.step_timeout (4s), or "
       "raise cluster.step_timeout above 6s"},
      // A save failed, or its checkpoint is damaged: moving the crash does not
      // help.
      {"",
       "faults: [{id: e, at: {worker: 0, save: 2, point: ckpt.rename}, do: "
       "errno}, {id: c, at: {worker: 1, step: 10}, do: crash}]\n"
       "expect: {outcome: recovers, resumed_from: {step: 8}}\n",
       "if the run was right, set resumed_from: {step: 4} under expect "
       "(c.yaml:13); if the expectation is right, remove fault e, which made "
       "the save of step 8 fail"},
      {"",
       "faults: [{id: t, at: {worker: chief, save: 2, point: "
       "ckpt.manifest.write}, do: truncate, with: {offset: 10}}, {id: c, at: "
       "{worker: 1, step: 10}, do: crash}]\nexpect: {outcome: recovers, "
       "resumed_from: {step: 8}, recomputed_steps: {max: 2}}\n",
       "if the run was right, set resumed_from: {step: 4}, recomputed_steps: "
       "{max: 5} under expect (c.yaml:13); if the expectations are right, "
       "remove fault t, which damaged the checkpoint of step 8"},
      {"",
       "faults: [{id: t, at: {worker: 0, save: 2, point: ckpt.shard.write}, "
       "do: torn_write}]\n"
       "expect: {outcome: recovers, resumed_from: {step: 8}}\n",
       "if the run was right, set resumed_from: {step: 4} under expect "
       "(c.yaml:13); if the expectation is right, set the save of fault t (2) "
       "to 3, so that the save of step 8 comes before it"},
      {"",
       "disk: {profile: lying-fsync}\n"
       "faults: [{id: o, at: {worker: 0, step: 10}, do: power_loss}]\n"
       "expect: {outcome: recovers, resumed_from: {step: 8}}\n",
       "if the run was right, set outcome: refuses and remove resumed_from "
       "under expect (c.yaml:14); if the expectations are right, set "
       "disk.profile (lying-fsync) to ext4, as a power loss then keeps the "
       "data of each fsync"},
      // In a later save, the fault would cost the same steps.
      {"",
       "faults: [{id: t, at: {worker: 0, save: 2, point: ckpt.shard.write}, "
       "do: torn_write}]\n"
       "expect: {outcome: recovers, recomputed_steps: {max: 2}}\n",
       "if the run was right, set recomputed_steps: {max: 4} under expect "
       "(c.yaml:13); if the expectation is right, lower checkpoint.every (4 "
       "steps) to {steps: 2}"},
      // With more saves, the run would resume from a later step.
      {"",
       "faults: [{id: t, at: {worker: 0, save: 2, point: ckpt.shard.write}, "
       "do: torn_write}]\nexpect: {outcome: recovers, resumed_from: {step: 4}, "
       "recomputed_steps: {max: 2}}\n",
       "if the run was right, set recomputed_steps: {max: 4} under expect "
       "(c.yaml:13); if the expectation is right, let the workers end at most "
       "2 "
       "steps after step 4, from which the run is to resume: saves at other "
       "steps (checkpoint.every) would change that"},
      // Both the fault and the save at the end of training are in the way.
      {"",
       "faults: [{id: e, at: {worker: 0, save: 2, point: ckpt.rename}, do: "
       "errno}]\nexpect: {outcome: completes, checkpoints: [8, 12]}\n",
       "if the run was right, set checkpoints: [12, 12] under expect "
       "(c.yaml:13); if the expectation is right, remove fault e, which made "
       "the save of step 8 fail, and set checkpoint.on_success to leave, so "
       "that step 12 is saved only once"},
      {"",
       "expect: {outcome: completes, saves: {exactly: 4}, checkpoints: [8, "
       "12]}\n",
       "if the run was right, set checkpoints: [12, 12] under expect "
       "(c.yaml:12); if the expectation is right, change the expectation of "
       "saves or of checkpoints, as they exclude each other: one needs the "
       "save at the end of training (checkpoint.on_success: keep), and the "
       "other excludes it (leave)"},
      {"",
       "expect: {outcome: completes, saves: {exactly: 3}, checkpoints: [12, "
       "12]}\n",
       "if the run was right, set saves: {exactly: 4} under expect "
       "(c.yaml:12); if the expectation is right, change the expectation of "
       "saves or of checkpoints, as they exclude each other: one needs the "
       "save at the end of training (checkpoint.on_success: keep), and the "
       "other excludes it (leave)"},
      // The fault that delayed the save also ended the workers: it is moved,
      // not removed.
      {"",
       "faults: [{id: f, at: {worker: 0, save: 2, point: ckpt.shard.write}, "
       "do: pause, with: {duration: 20s}}]\n"
       "expect: {outcome: recovers, resumed_from: {step: 8}}\n",
       "if the run was right, set resumed_from: {step: 4} under expect "
       "(c.yaml:13); if the expectation is right, set the save of fault f (2) "
       "to 3, so that the save of step 8 comes before it"},
      // A shorter partition would cost no worker, so no restart would follow.
      {", restart: {policy: none}",
       "faults: [{id: n, at: {worker: 1, step: 6}, do: partition}]\n"
       "expect: {outcome: recovers}\n",
       "if the run was right, set outcome: fails under expect (c.yaml:13); if "
       "the expectation is right, set cluster.restart.policy to whole-job or "
       "rejoin"},
      // No worker was left to rejoin.
      {", restart: {policy: rejoin}",
       "faults: [{id: k, at: {worker: all, step: 7}, do: kill}]\n"
       "expect: {outcome: recovers, recomputed_steps: {max: 0}}\n",
       "if the run was right, set recomputed_steps: {max: 2} under expect "
       "(c.yaml:13); if the expectation is right, set the worker of fault k "
       "(all) to 1, so that the others keep the state in memory, or lower "
       "checkpoint.every (4 steps) to {steps: 1}, or set the step of fault k "
       "(7) to 5, so that it comes 0 steps after the save of step 4"},
      {"",
       "preemption: {requeue: 0}\n"
       "faults: [{id: p, at: {worker: 1, step: 6}, do: preempt, with: {grace: "
       "5s}}]\nexpect: {outcome: stops-cleanly, exit_code: 0}\n",
       "set exit_code (0) to 143, the exit code of stops-cleanly, or change "
       "the "
       "outcome under expect (c.yaml:14)"},
      // A notice makes the workers save the step at which they stop.
      {"",
       "faults: [{id: p, at: {worker: 1, step: 6}, do: preempt, with: {grace: "
       "30s}}]\nexpect: {outcome: recovers, resumed_from: {step: 4}}\n",
       "if the run was right, set resumed_from: {step: 6} under expect "
       "(c.yaml:13); if the expectation is right, set the step of fault p (6) "
       "to 4, as the job saves the step of the notice"},
      {"",
       "preemption: {requeue: 0}\n"
       "faults: [{id: p, at: {worker: 1, step: 6}, do: preempt, with: {grace: "
       "30s}}]\nexpect: {outcome: stops-cleanly, checkpoints: [4]}\n",
       "if the run was right, set checkpoints: [4, 6] under expect "
       "(c.yaml:14); if the expectation is right, set the step of fault p (6) "
       "to 4, as the job saves the step of the notice"},
      {"",
       "preemption: {requeue: 0}\n"
       "faults: [{id: p, at: {worker: 1, step: 8}, do: preempt, with: {grace: "
       "30s}}]\nexpect: {outcome: stops-cleanly, ends_at: {step: 5}}\n",
       "if the run was right, set ends_at: {step: 8} under expect (c.yaml:14); "
       "if the expectation is right, set the step of fault p (8) to 5"},
      // Training continues until the save of step 8 has taken 3 s of the grace.
      {"",
       "preemption: {grace: 5s}\n"
       "faults: [{id: p, at: {worker: 1, step: 7}, do: preempt, with: {grace: "
       "30s}}, {id: s, after: p, at: {worker: 0, point: ckpt.shard.write}, do: "
       "slow, with: {latency: 3s}}]\n"
       "expect: {outcome: recovers, resumed_from: {step: 7}}\n",
       "if the run was right, set resumed_from: {step: 9} under expect "
       "(c.yaml:14); if the expectation is right, set preemption.grace (5s) to "
       "0s, as training continues after a notice while enough of this grace is "
       "left for a save"},
      {"",
       "preemption: {grace: 5s, requeue: 0}\n"
       "faults: [{id: p, at: {worker: 1, step: 7}, do: preempt, with: {grace: "
       "30s}}, {id: s, after: p, at: {worker: 0, point: ckpt.shard.write}, do: "
       "slow, with: {latency: 3s}}]\n"
       "expect: {outcome: stops-cleanly, ends_at: {step: 5}}\n",
       "if the run was right, set ends_at: {step: 9} under expect (c.yaml:14); "
       "if the expectation is right, set preemption.grace (5s) to 0s and set "
       "the step of fault p (7) to 5, as training continues after a notice "
       "while enough of this grace is left for a save"},
      // One change meets both expectations.
      {"",
       "faults: [{id: f, at: {worker: 1, save: 1, point: ckpt.shard.write}, "
       "do: bit_flip}, {id: c, at: {worker: 1, step: 6}, do: crash}]\n"
       "expect: {outcome: recovers, resumed_from: {step: 4}}\n",
       "if the run was right, set outcome: refuses and remove resumed_from "
       "under expect (c.yaml:13); if the expectations are right, remove fault "
       "f, which damaged the checkpoint of step 4"},
      // A notice in the last step of training stops nothing.
      {"",
       "preemption: {requeue: 0}\n"
       "faults: [{id: p, at: {worker: 1, step: 8}, do: preempt, with: {grace: "
       "30s}}]\nexpect: {outcome: stops-cleanly, ends_at: {step: 12}}\n",
       "if the run was right, set ends_at: {step: 8} under expect (c.yaml:14); "
       "if the expectation is right, the run must change: look in its "
       "timeline for the first event that you do not expect (gauntlet show "
       "7/c --all)"},
      {"",
       "faults: [{id: p, at: {worker: 1, step: 6}, do: preempt, with: {grace: "
       "30s}}]\nexpect: {outcome: recovers, resumed_from: {step: 12}}\n",
       "if the run was right, set resumed_from: {step: 6} under expect "
       "(c.yaml:13); if the expectation is right, the run must change: look in "
       "its "
       "timeline for the first event that you do not expect (gauntlet show "
       "7/c --all)"},
      {"",
       "preemption: {requeue: 0}\n"
       "faults: [{id: p, at: {worker: 1, step: 8}, do: preempt, with: {grace: "
       "30s}}]\nexpect: {outcome: stops-cleanly, ends_at: {epoch: 0}}\n",
       "if the run was right, set ends_at: {epoch: 1} under expect "
       "(c.yaml:14); if the expectation is right, set the step of fault p (8) "
       "to a value from 1 to 5"},
      // A fault failed the save.
      {"",
       "faults: [{id: e, at: {worker: 0, save: 2, point: ckpt.rename}, do: "
       "errno}]\nexpect: {outcome: completes, saves: {exactly: 4}}\n",
       "if the run was right, set saves: {exactly: 3} under expect "
       "(c.yaml:13); if the expectation is right, remove fault e, which made "
       "the save of step 8 fail"},
      // The training does not reach the end of the fault.
      {", restart: {max: 2}",
       "faults: [{id: c, at: {worker: 1, step: 6, incarnation: any}, do: "
       "crash, with: {repeat: always}, until: {step: 9}}]\n"
       "expect: {outcome: recovers}\n",
       "if the run was right, set outcome: fails under expect (c.yaml:13); if "
       "the expectation is right, set the repeat of fault c to once, without "
       "its until: it ends each attempt, so more restarts do not help"},
      // The plan shows that the fault repeats. Even a limited fault needs a
      // restart.
      {", restart: {max: 0}",
       "faults: [{id: c, at: {worker: 1, step: 6, incarnation: any}, do: "
       "crash, with: {repeat: always}}]\nexpect: {outcome: recovers}\n",
       "if the run was right, set outcome: fails under expect (c.yaml:13); if "
       "the expectation is right, set the repeat of fault c to once, "
       "and raise cluster.restart.max (0) to 1: it ends each attempt"},
      {", restart: {policy: none}",
       "faults: [{id: c, at: {worker: 1, step: 6, incarnation: any}, do: "
       "crash, with: {repeat: always}}]\nexpect: {outcome: recovers}\n",
       "if the run was right, set outcome: fails under expect (c.yaml:13); if "
       "the expectation is right, set the repeat of fault c to once, and "
       "set cluster.restart.policy to whole-job or rejoin: it ends each "
       "attempt"},
      // A resume starts after the step of the fault.
      {", restart: {max: 0}",
       "faults: [{id: c, at: {worker: 0, step: 8, point: ckpt.committed, "
       "incarnation: any}, do: crash, with: {repeat: always}}]\n"
       "expect: {outcome: recovers}\n",
       "if the run was right, set outcome: fails under expect (c.yaml:13); if "
       "the expectation is right, raise cluster.restart.max (0) to 1 or more"},
      // Each attempt reaches new steps.
      {", restart: {max: 1}",
       "faults: [{id: c, at: {worker: 0, save: 1, point: ckpt.committed, "
       "incarnation: any}, do: crash, with: {repeat: always}}]\n"
       "expect: {outcome: recovers}\n",
       "if the run was right, set outcome: fails under expect (c.yaml:13); if "
       "the expectation is right, limit fault c (set its repeat to once, or "
       "end it with until): it ends each attempt; or raise cluster.restart.max "
       "(1) to 2 or more, as each attempt reaches new steps"},
      {"",
       "timeout: {total: 40s}\n"
       "faults: [{id: h, at: {worker: 1, step: 6, incarnation: any}, do: hang, "
       "with: {repeat: always}}]\nexpect: {outcome: recovers}\n",
       "set the repeat of fault h to once: it ends each attempt, so more time "
       "does not help"},
      // The older checkpoint is damaged.
      {"",
       "faults: [{id: b, at: {worker: 1, save: 1, point: ckpt.shard.write}, "
       "do: bit_flip}, {id: c, at: {worker: 1, step: 10}, do: crash}]\n"
       "expect: {outcome: recovers, resumed_from: {step: 4}}\n",
       "if the run was right, set resumed_from: {step: 8} under expect "
       "(c.yaml:13); if the expectation is right, set the step of fault c (10) "
       "to a value from 5 to 8, so that it comes before the save of step 8; "
       "and remove fault b, which damaged the checkpoint of step 4"},
      // The crash waits for another fault.
      {"",
       "faults: [{id: s, at: {worker: 1, step: 6}, do: slow, with: {latency: "
       "1ms}}, {id: c, after: s, at: {worker: 1, step: 10}, do: crash}]\n"
       "expect: {outcome: recovers, resumed_from: {step: 4}}\n",
       "if the run was right, set resumed_from: {step: 8} under expect "
       "(c.yaml:13); if the expectation is right, set the step of fault c (10) "
       "to a value from 7 to 8, so that it comes before the save of step 8"},
      // Workers train on after the kill of their launcher.
      {", restart: {policy: rejoin}",
       "faults: [{id: k, at: {worker: 1, step: 7}, do: kill_launcher}]\n"
       "expect: {outcome: recovers, recomputed_steps: {max: 0}}\n",
       "if the run was right, set recomputed_steps: {max: 4} under expect "
       "(c.yaml:13); if the expectation is right, the run must change: look in "
       "its timeline for the first event that you do not expect (gauntlet show "
       "7/c --all)"},
      {"", "disk: {capacity: 70KiB}\nexpect: {outcome: retry-later}\n",
       "if the run was right, set outcome: completes under expect "
       "(c.yaml:13); if the expectation is right, lower disk.capacity"},
      {"",
       "launches: [{max_steps: 7}, {}]\n"
       "expect: {outcome: recovers, resumed_from: {step: 4}}\n",
       "if the run was right, set resumed_from: {step: 7} under expect "
       "(c.yaml:13); if the expectation is right, set max_steps of the first "
       "launch (7) to 4"},
      {"",
       "launches: [{max_steps: 7}, {}]\n"
       "expect: {outcome: recovers, resumed_from: {step: 10}}\n",
       "if the run was right, set resumed_from: {step: 7} under expect "
       "(c.yaml:13); if the expectation is right, set max_steps of the first "
       "launch (7) to 10"},
      // Training ends before the expected step.
      {"",
       "launches: [{max_steps: 7}, {}]\n"
       "expect: {outcome: recovers, resumed_from: {step: 30}}\n",
       "if the run was right, set resumed_from: {step: 7} under expect "
       "(c.yaml:13); if the expectation is right, the run must change: look in "
       "its "
       "timeline for the first event that you do not expect (gauntlet show "
       "7/c --all)"},
      {"",
       "preemption: {requeue: 0}\n"
       "faults: [{id: p, at: {worker: 1, step: 6}, do: terminate_launcher}]\n"
       "expect: {outcome: completes}\n",
       "if the run was right, set outcome: stops-cleanly under expect "
       "(c.yaml:14); if the expectation is right, remove fault p, which ended "
       "attempt 1"},
      // The fault ends each attempt until the time is up.
      {", restart: {max: 1000, backoff: 1s}",
       "timeout: {total: 9s}\n"
       "faults: [{id: c, at: {worker: 1, step: 6, incarnation: any}, do: "
       "crash, with: {repeat: always}}]\nexpect: {outcome: recovers}\n",
       "set the repeat of fault c to once: it ends each attempt, so more time "
       "does not help"},
      // The launcher would give up soon: it may restart the job 3 times.
      {", topology: one_host_per_worker, heartbeat: {lost_after: 1s}",
       "timeout: {total: 40s}\n"
       "faults: [{id: c, at: {worker: 1, step: 6, incarnation: any}, do: "
       "partition, with: {repeat: always}}]\nexpect: {outcome: recovers}\n",
       "set the repeat of fault c to once, as it ends each attempt; or, if the "
       "launcher is to give up, set outcome: "
       "fails under expect (c.yaml:14) and timeout.total (40s) to 43s or more: "
       "it gives up when the attempt after restart 3 (cluster.restart.max) has "
       "ended, after about 41s"},
      {", restart: {max: 1000, backoff: 1s}",
       "timeout: {total: 9s}\n"
       "faults: [{id: c, at: {worker: 1, step: 6, incarnation: any}, do: "
       "crash, with: {repeat: always}}]\nexpect: {outcome: fails}\n",
       "raise timeout.total (9s), or lower cluster.restart.max (1000), so that "
       "the launcher gives up in time"},
      // Another restart is needed, and must be permitted.
      {", restart: {max: 1}",
       "faults: [{id: a, at: {worker: 1, step: 6}, do: crash}, {id: b, at: "
       "{worker: 1, step: 7, incarnation: 2}, do: crash}]\n"
       "expect: {outcome: recovers, restarts: {max: 1}}\n",
       "if the run was right, set outcome: fails under expect (c.yaml:13); if "
       "the expectation is right, raise cluster.restart.max (1) to 2 or more, "
       "and raise restarts.max (1) under expect to 2, as the run needs one "
       "restart "
       "more; or "
       "remove fault b, which ended attempt 2"},
  };
  for (const auto& [cluster, rest, advice] : kCases) {
    EXPECT_EQ(Advice(cluster, rest), advice) << rest;
  }
}

// A crash after the commit of a save does not prevent a resume from this save.
TEST_F(AdviceOnRunTest, FaultMovedToAnotherSave_LeavesTheExpectedStep) {
  struct MoveCase {
    const char* point;
    uint64_t expected;
    uint64_t advised;
  };
  const MoveCase kCases[] = {
      {"ckpt.begin", 8, 3},          {"ckpt.shard.write", 8, 3},
      {"ckpt.manifest.write", 8, 3}, {"ckpt.rename", 8, 3},
      {"ckpt.renamed", 8, 2},        {"ckpt.commit.fsync", 8, 2},
      {"ckpt.committed", 8, 2},      {"ckpt.state.write", 8, 2},
      {"ckpt.state.rename", 8, 2},   {"ckpt.end", 8, 2},
      {"ckpt.end", 12, 3},
  };
  for (const std::string_view mode : {"sync", "async"}) {
    for (const auto& [point, expected, advised] : kCases) {
      const std::string place = fmt::format("{} {}", mode, point);
      EXPECT_THAT(
          RunCrashInSave(mode, 1, point, expected).summary.next,
          testing::EndsWith(fmt::format("set the save of fault x (1) to {}, so "
                                        "that the save of step {} comes before "
                                        "it",
                                        advised, expected)))
          << place;
      EXPECT_EQ(RunCrashInSave(mode, advised, point, expected).verdict.kind,
                VerdictKind::kPass)
          << place;
    }
  }
}

TEST_F(AdviceOnRunTest, LateDetection_NamesTheDecisiveLimit) {
  const AdviceCase kCases[] = {
      {", step_timeout: 7s",
       "faults: [{id: c, at: {worker: 1, step: 6}, do: hang}]\n"
       "expect: {outcome: recovers, detected_in: {max: 3s}}\n",
       "if the delay is right, raise detected_in.max in c.yaml:13 above "
       "cluster.step_timeout (7s), or lower cluster.step_timeout below "
       "detected_in.max (3s); if the engine should have detected the loss "
       "sooner, see what the "
       "worker that detected the loss did before (gauntlet show 7/c --worker 0 "
       "--all)"},
      // The delay exceeds both limits by the time of a message.
      {", step_timeout: 1s",
       "faults: [{id: c, at: {worker: 1, step: 6}, do: hang}]\n"
       "expect: {outcome: recovers, detected_in: {max: 1s}}\n",
       "if the delay is right, raise detected_in.max in c.yaml:13 above "
       "cluster.step_timeout (1s), or lower cluster.step_timeout below "
       "detected_in.max (1s); if the engine should have detected the loss "
       "sooner, see what the "
       "worker that detected the loss did before (gauntlet show 7/c --worker 0 "
       "--all)"},
      {"",
       "faults: [{id: c, at: {worker: 0, step: 6}, do: pause, with: {duration: "
       "9s}}]\nexpect: {outcome: recovers, detected_in: {max: 3s}}\n",
       "if the delay is right, raise detected_in.max in c.yaml:13 above "
       "cluster.heartbeat.lost_after (5s), or lower "
       "cluster.heartbeat.lost_after below detected_in.max (3s); if the engine "
       "should have detected the loss "
       "sooner, see what the worker that detected the loss did before "
       "(gauntlet show 7/c --worker 1 --all)"},
      // No worker is left to detect the pause.
      {", step_timeout: 4s",
       "faults: [{id: h, at: {worker: all, step: 6}, do: pause}]\n"
       "expect: {outcome: recovers, detected_in: {max: 1s}}\n",
       "if the delay is right, raise detected_in.max in c.yaml:13 above the "
       "sum of cluster.step_timeout (4s) and cluster.heartbeat.lost_after "
       "(5s), or lower both so that the sum is below detected_in.max (1s); if "
       "the engine should have detected the loss sooner, see what the launcher "
       "did before (gauntlet show 7/c --worker launcher --all)"},
  };
  for (const auto& [cluster, rest, advice] : kCases) {
    EXPECT_EQ(Advice(cluster, rest), advice) << rest;
  }
}

// Returns the advice on a late detection. The worker waited for the limit of a
// step, 7 s. `expected_ns`: limit of the scenario, if it has one.
std::string AdviceOnWait(std::optional<int64_t> expected_ns) {
  constexpr int64_t kLimit = 7'000'000'000;
  Record record;
  record.expect.detected_in_max_ns = expected_ns;
  record.setup.step_timeout_ns = kLimit;
  record.incarnations = {{.worker = 2,
                          .events = {{.kind = RecordKind::kWorkerLost,
                                      .about = 0,
                                      .reason = RecordReason::kDeadline,
                                      .limit_ns = kLimit}}}};
  const CaseResult result = {
      .file = "c.yaml",
      .verdict = {
          .kind = VerdictKind::kFail,
          .invariants = {
              {.invariant = "detection", .instances = 1, .violations = 1}}}};
  return AdviceOn(Outline(record), result);
}

TEST(AdviceTest, ProcessThatIsLeft_BlamesTheEngine) {
  Record record;
  record.world = "real";
  record.left.processes = {"worker 1, incarnation 1 (process 4711)"};
  const CaseResult result = {
      .replay = "gauntlet replay 7/c --world real",
      .directory = "/runs/7/c.real",
      .verdict = {
          .kind = VerdictKind::kFail,
          .invariants = {
              {.invariant = "no-orphans", .instances = 1, .violations = 1}}}};
  EXPECT_EQ(AdviceOn(Outline(record), result),
            "each process must end with its launcher, so look for the cause in "
            "the engine: see the last events of each worker (gauntlet show 7/c "
            "--world real --all), and the output of the workers in "
            "/runs/7/c.real/logs");
  record.world = "sim";
  EXPECT_THAT(AdviceOn(Outline(record), result), testing::EndsWith("--all)"));
}

TEST(AdviceTest, DelayBeyondAllLimits_BlamesTheEngine) {
  EXPECT_EQ(AdviceOnWait(8'000'000'000),
            "cluster.step_timeout (7s) is shorter than the delay, so look for "
            "the cause in the engine: see what the worker that detected the "
            "loss did before (gauntlet show RUN/CASE --worker 2 --all)");
  EXPECT_EQ(AdviceOnWait(std::nullopt),
            "the engine exceeded its own limits, so look for the cause there: "
            "see what the worker that detected the loss did before (gauntlet "
            "show RUN/CASE --worker 2 --all)");
}

TEST_F(AdviceOnRunTest, GracePeriodTooShortForASave_IsToBeRaised) {
  EXPECT_THAT(
      Advice("",
             "preemption: {requeue: 0}\n"
             "faults: [{id: s, at: {worker: 0, save: 2, point: "
             "ckpt.shard.write}, do: slow, with: {latency: 5s}}, {id: p, "
             "at: {worker: 1, step: 8, point: step.end}, do: preempt, "
             "with: {grace: 1s}}]\n"
             "expect: {outcome: stops-cleanly}\n"),
      testing::MatchesRegex(
          "if a save may take that long, raise the grace of fault p .1s. "
          "to 5100ms or more, the time of two steps and a save with its "
          "delays, rounded up .the save of step 4 took [0-9]+ ms, and fault s "
          "adds 5s., or limit "
          "fault s, which delayed it; if the engine should have saved sooner, "
          "see what the workers did before "
          ".gauntlet show 7/c --all."));
}

// A scenario, the advice on its failure, and the scenario after that change.
struct FollowedAdvice {
  const char* rest;
  const char* advice;
  const char* changed;
};

TEST_F(AdviceOnRunTest, ScenarioPasses_AfterTheAdvisedChange) {
  const FollowedAdvice kCases[] = {
      {"faults: [{id: c, at: {worker: 1, step: 8}, do: crash}]\n"
       "expect: {outcome: completes, restarts: {exactly: 1}}\n",
       "set outcome: recovers under expect (c.yaml:13), as a run that "
       "completes "
       "after a restart recovers",
       "faults: [{id: c, at: {worker: 1, step: 8}, do: crash}]\n"
       "expect: {outcome: recovers, restarts: {exactly: 1}}\n"},
      {"preemption: {requeue: 0}\n"
       "faults: [{id: p, at: {worker: 1, step: 12}, do: preempt, with: {grace: "
       "30s}}]\nexpect: {outcome: stops-cleanly}\n",
       "if the run was right, set outcome: completes under expect (c.yaml:14); "
       "if the expectation is right, set the step of fault p (12) to 11 or "
       "earlier, as a run that reads a notice in its last step completes",
       "preemption: {requeue: 0}\n"
       "faults: [{id: p, at: {worker: 1, step: 11}, do: preempt, with: {grace: "
       "30s}}]\nexpect: {outcome: stops-cleanly}\n"},
      {"preemption: {grace: 20s}\n"
       "faults: [{id: p, at: {worker: 1, step: 8}, do: preempt, with: {grace: "
       "20s}}]\nexpect: {outcome: recovers, restarts: {exactly: 1}}\n",
       "if the run was right, set outcome: completes, restarts: {exactly: 0} "
       "under expect (c.yaml:14); if the expectations are right, set "
       "preemption.grace (20s) to 0s, as training continues after a notice "
       "while enough of this grace is left for a save",
       "faults: [{id: p, at: {worker: 1, step: 8}, do: preempt, with: {grace: "
       "20s}}]\nexpect: {outcome: recovers, restarts: {exactly: 1}}\n"},
      // A delay of the other worker uses up the grace period.
      {"preemption: {requeue: 0, grace: 10s}\n"
       "faults: [{id: n, at: {worker: 0, step: 8}, do: preempt, with: {grace: "
       "2s}}, {id: lag, at: {worker: 1, step: 9}, do: slow, with: {latency: "
       "3s}}]\nexpect: {outcome: stops-cleanly}\n",
       "remove fault lag, which delayed worker 1, or raise the grace of fault "
       "n "
       "(2s) to 3100ms or more",
       "preemption: {requeue: 0, grace: 10s}\n"
       "faults: [{id: n, at: {worker: 0, step: 8}, do: preempt, with: {grace: "
       "3100ms}}, {id: lag, at: {worker: 1, step: 9}, do: slow, with: "
       "{latency: 3s}}]\nexpect: {outcome: stops-cleanly}\n"},
      {"faults: [{id: k, at: {worker: 1, point: run.finish}, do: kill, with: "
       "{latency: 800us}}]\nexpect: {outcome: recovers}\n",
       "if the run was right, set outcome: completes under expect (c.yaml:13); "
       "if the expectation is right, let fault k come during the training: set "
       "its `at` to {worker: 1, step: 7} and remove its latency",
       "faults: [{id: k, at: {worker: 1, step: 7}, do: kill}]\n"
       "expect: {outcome: recovers}\n"},
      {"faults: [{id: k, at: {worker: chief, save: 2, point: "
       "ckpt.manifest.write}, do: kill}]\n"
       "expect: {outcome: recovers, recomputed_steps: {max: 0}}\n",
       "if the run was right, set recomputed_steps: {max: 4} under expect "
       "(c.yaml:13); if the expectation is right, set `at` of fault k to "
       "{worker: chief, step: 5}, as a worker that ends in a save has not "
       "committed the step of this save",
       "faults: [{id: k, at: {worker: chief, step: 5}, do: kill}]\n"
       "expect: {outcome: recovers, recomputed_steps: {max: 0}}\n"},
  };
  for (const auto& [rest, advice, changed] : kCases) {
    EXPECT_EQ(Advice("", rest), advice) << rest;
    EXPECT_EQ(
        Run(SmallScenario(std::string("seed: 7\n") + changed)).verdict.kind,
        VerdictKind::kPass)
        << changed;
  }
}

// Without fault e, the asynchronous save may still be in progress at the crash.
TEST_F(AdviceOnRunTest, FailedAsynchronousSave_NeedsALaterCrash) {
  const auto text = [](const std::string& faults) {
    std::string scenario = SmallScenario(
        "seed: 7\nfaults: [" + faults +
        "]\nexpect: {outcome: recovers, resumed_from: {step: 8}}\n");
    const std::string keep = "keep: 2";
    scenario.replace(scenario.find(keep), keep.size(), keep + ", mode: async");
    return scenario;
  };
  EXPECT_EQ(Run(text("{id: e, at: {worker: 1, save: 2, point: "
                     "ckpt.shard.write}, do: errno, with: {error: ENOSPC}}, "
                     "{id: c, at: {worker: 0, step: 11}, do: crash}"))
                .summary.next,
            "if the run was right, set resumed_from: {step: 4} under expect "
            "(c.yaml:13); if the expectation is right, remove fault e, which "
            "made the save of step 8 fail, and set `at` of fault c to {worker: "
            "0, save: 3, point: ckpt.begin}, so that the save of step 8 comes "
            "before it, as each save waits for the one before");
  EXPECT_EQ(Run(text("{id: c, at: {worker: 0, save: 3, point: ckpt.begin}, do: "
                     "crash}"))
                .verdict.kind,
            VerdictKind::kPass);
}

// A crash at the next save would repeat a whole interval.
TEST_F(AdviceOnRunTest, SaveInFlight_IsToBeSynchronous) {
  const auto text = [](const std::string& mode) {
    std::string scenario = SmallScenario(
        "seed: 7\nfaults: [{id: c, at: {worker: 0, step: 9}, do: crash}]\n"
        "expect: {outcome: recovers, resumed_from: {step: 8}, "
        "recomputed_steps: {max: 2}}\n");
    const std::string keep = "keep: 2";
    scenario.replace(scenario.find(keep), keep.size(), keep + mode);
    return scenario;
  };
  EXPECT_EQ(Run(text(", mode: async")).summary.next,
            "if the run was right, set resumed_from: {step: 4}, "
            "recomputed_steps: {max: 4} under expect (c.yaml:13); if the "
            "expectations are right, set checkpoint.mode (async) to sync, so "
            "that the save of step 8 is complete before fault c fires");
  EXPECT_EQ(Run(text("")).verdict.kind, VerdictKind::kPass);
}

TEST_F(AdviceOnRunTest, WholeJobPolicy_ReachesNoPointOfARejoin) {
  EXPECT_THAT(
      Advice(", restart: {policy: rejoin}",
             "faults: [{id: k, at: {worker: 1, step: 10}, do: kill}, {id: d, "
             "after: k, at: {worker: 0, point: cluster.rejoin}, do: slow, "
             "with: {latency: 10ms}}]\n"
             "expect: {outcome: recovers, resumed_from: {step: 8}}\n"),
      testing::EndsWith("set cluster.restart.policy to whole-job and remove "
                        "fault d, whose point only a rejoin reaches, as a "
                        "worker that rejoins loads no checkpoint"));
}

// Without its grace period, the notice would not stop the job either.
TEST_F(AdviceOnRunTest, NoticeInTheLastStep_IsNotAMatterOfTheGracePeriod) {
  EXPECT_THAT(Advice("",
                     "preemption: {grace: 20s}\n"
                     "faults: [{id: p, at: {worker: 1, step: 12}, do: preempt, "
                     "with: {grace: 20s}}]\n"
                     "expect: {outcome: recovers}\n"),
              testing::Not(testing::HasSubstr("preemption.grace")));
}

TEST_F(AdviceOnRunTest, OtherSaveIsToFail_ForTheExpectedCheckpoints) {
  const auto text = [](int save) {
    std::string scenario = SmallScenario(fmt::format(
        "seed: 7\nfaults: [{{id: e, at: {{worker: chief, save: {}, point: "
        "ckpt.rename}}, do: errno}}]\n"
        "expect: {{outcome: completes, checkpoints: [4, 12]}}\n",
        save));
    const std::string keep = "keep: 2";
    scenario.replace(scenario.find(keep), keep.size(),
                     "keep: 3, on_success: leave");
    return scenario;
  };
  EXPECT_EQ(Run(text(1)).summary.next,
            "if the run was right, set checkpoints: [8, 12] under expect "
            "(c.yaml:13); if the expectation is right, set the save of fault e "
            "(1) to 2, so that the save of step 8 fails instead of that of "
            "step 4");
  EXPECT_EQ(Run(text(2)).verdict.kind, VerdictKind::kPass);
}

// With the damaged checkpoint, the oldest one is the only intact one, so it is
// not deleted to make room.
TEST_F(AdviceOnRunTest, DamageThatPreventsARetry_IsNamedToo) {
  constexpr const char* kFlip =
      "{id: f, at: {worker: 0, save: 2, point: ckpt.shard.fsync}, do: "
      "bit_flip}, ";
  const auto text = [](const std::string& flip) {
    std::string scenario = SmallScenario(
        "seed: 7\nfaults: [" + flip +
        "{id: e, at: {worker: 1, save: 3, point: ckpt.shard.fsync}, do: errno, "
        "with: {error: ENOSPC, repeat: always}}, "
        "{id: c, at: {worker: 0, step: 11}, do: crash}]\n"
        "expect: {outcome: recovers, resumed_from: {step: 9}}\n");
    const std::string every = "{steps: 4}";
    scenario.replace(scenario.find(every), every.size(), "{steps: 3}");
    return scenario;
  };
  EXPECT_EQ(Run(text(kFlip)).summary.next,
            "if the run was right, set resumed_from: {step: 3} under expect "
            "(c.yaml:13); if the expectation is right, remove fault e, which "
            "made the save of step 9 fail, or remove fault f, so that the "
            "oldest checkpoint is deleted to make room, and the save is tried "
            "again");
  EXPECT_EQ(Run(text("")).verdict.kind, VerdictKind::kPass);
}

// The launcher kills worker 0, which the partition cuts off; the kill takes
// effect only after the partition, as a second interruption.
TEST_F(AdviceOnRunTest, LateKill_IsAttributedToThePartition) {
  std::string text = SmallScenario(
      "seed: 7\ndisk: {profile: shared}\n"
      "faults: [{id: cut, at: {worker: 0, step: 9}, do: partition, with: "
      "{duration: 9s}}]\n"
      "expect: {outcome: recovers, restarts: {exactly: 1}}\n");
  const std::string workers = "{workers: 2";
  text.replace(text.find(workers), workers.size(),
               workers +
                   ", topology: one_host_per_worker, restart: {policy: "
                   "rejoin, max: 2}");
  const CaseResult result = Run(text);
  const std::string& cause = result.cause;
  EXPECT_THAT(cause, testing::HasSubstr("fault cut (partition worker 0 at "
                                        "step.begin, step 9, for 9s) "
                                        "interrupted attempt 1: worker 0 was "
                                        "killed"));
  EXPECT_THAT(cause,
              testing::HasSubstr("fault cut also interrupted attempt 1"));
  EXPECT_THAT(result.summary.next,
              testing::EndsWith("shorten the duration of fault cut (9s), so "
                                "that it interrupts the run fewer times"));
}

// The failing saves end each start of the job; the crash also ends an attempt
// of the first.
TEST_F(AdviceOnRunTest, LimitedFault_NeedsNoOtherOutcomeBesideACrash) {
  EXPECT_EQ(
      Advice("",
             "faults: [{id: e, at: {worker: all, incarnation: any, point: "
             "ckpt.shard.write}, do: errno, with: {error: ENOSPC, repeat: "
             "always}}, {id: c, at: {worker: 0, step: 7}, do: crash}]\n"
             "expect: {outcome: recovers}\n"),
      "if the run was right, set outcome: retry-later under expect "
      "(c.yaml:13); if the expectation is right, limit fault e (set its repeat "
      "to once, or end it with until)");
}

TEST_F(AdviceOnRunTest, SavesThatNeedTheEndOfTraining_ExcludeCheckpoints) {
  std::string text = SmallScenario(
      "seed: 7\nexpect: {outcome: completes, saves: {exactly: 4}, checkpoints: "
      "[8, 12]}\n");
  const std::string keep = "keep: 2";
  text.replace(text.find(keep), keep.size(), keep + ", on_success: leave");
  EXPECT_THAT(
      Run(text).summary.next,
      testing::HasSubstr("change the expectation of saves or of checkpoints"));
}

// The trainer was told a longer grace period, but the fault that delays the
// save would exceed any.
TEST_F(AdviceOnRunTest, DelayedSave_IsNamedBeforeTheGraceOfTheTrainer) {
  std::string text = SmallScenario(
      "seed: 7\npreemption: {grace: 30s}\n"
      "faults: [{id: s, at: {worker: 1, point: ckpt.shard.write}, do: slow, "
      "with: {latency: 1s, repeat: always}}, {id: p, at: {worker: 1, step: 3}, "
      "do: preempt, with: {grace: 300ms}}]\n"
      "expect: {outcome: recovers}\n");
  EXPECT_THAT(
      Run(text).summary.next,
      testing::StartsWith(
          "if a save may take that long, raise the grace of fault p (300ms) "
          "above its duration (fault s adds 1s or more), or limit fault s, "
          "which delayed it, and set preemption.grace (30s) to the same grace; "
          "if the engine should have saved sooner, "));
}

TEST_F(AdviceOnRunTest, RunThatStillMadeProgress_NeedsMoreTime) {
  EXPECT_THAT(
      Advice("",
             "timeout: {total: 35s}\n"
             "faults: [{id: s, at: {worker: 0, incarnation: any}, do: slow, "
             "with: {latency: 4s, repeat: always}}]\n"
             "expect: {outcome: completes}\n"),
      testing::StartsWith("raise timeout.total (35s): the last event of a "
                          "worker came "));
}

TEST_F(AdviceOnRunTest, TimeoutByTheNumberOfSteps_AdvisesATotal) {
  EXPECT_THAT(Advice(", step_time: 3s",
                     "timeout: {total: 20s}\nexpect: {outcome: completes}\n"),
              testing::StartsWith("raise timeout.total (20s) to 40s or more: "
                                  "step 6 of 12 was reached after 18."));
}

TEST_F(AdviceOnRunTest, EndlessRunNamesTheLimits) {
  EXPECT_EQ(Advice(", step_timeout: 10m",
                   "timeout: {hang: 31s, total: 50s}\n"
                   "faults: [{id: c, at: {worker: all, step: 6}, do: hang}]\n"
                   "expect: {outcome: recovers}\n"),
            "if the workers may wait that long, raise timeout.total (50s) "
            "to 640s or more, above cluster.step_timeout (10m), or lower the "
            "latter; if the "
            "engine should have ended the run sooner, the finding of no-hang "
            "lists what each process waited for, and `gauntlet show 7/c --all` "
            "what it did before");
}

// Returns a record of a run that used up its time, 100 s. Its last event is a
// save that began after 55 s.
Record TimedOutRecord() {
  constexpr int64_t kSecond = 1'000'000'000;
  Record record;
  record.world = "real";
  record.ending = RunEnding::kTimedOut;
  record.setup.step_timeout_ns = 30 * kSecond;
  record.setup.save_timeout_ns = 60 * kSecond;
  record.setup.longest_run_ns = 100 * kSecond;
  record.incarnations = {
      {.events = {
           {.kind = RecordKind::kStep, .step = 4},
           {.kind = RecordKind::kSaveBegin, .t_ns = 55 * kSecond, .step = 4}}}};
  return record;
}

std::string AdviceOnTimeout(const Record& record) {
  return AdviceOn(Outline(record),
                  {.verdict = {.kind = VerdictKind::kFail,
                               .invariants = {{.invariant = "no-hang",
                                               .instances = 1,
                                               .violations = 1}}}});
}

TEST(AdviceTest, WaitInASave_HasTheLimitOfSaves) {
  Record record = TimedOutRecord();
  EXPECT_EQ(AdviceOnTimeout(record),
            "raise timeout.total (100s): the last event of a worker came "
            "45.000 s before the end of the run, but the engine ends such a "
            "wait only after "
            "cluster.save_timeout (1m). If it should have ended sooner, "
            "see the last events of each worker (gauntlet show "
            "RUN/CASE --all)");
  record.incarnations[0].events.pop_back();
  EXPECT_EQ(AdviceOnTimeout(record),
            "the engine should end such a wait by itself "
            "(cluster.step_timeout is 30s), so look for the cause there: see "
            "the last events of each worker (gauntlet show RUN/CASE --all)");
}

TEST(AdviceTest, TimeoutByRequeues_AdvisesFewerRequeues) {
  constexpr int64_t kSecond = 1'000'000'000;
  Record record = TimedOutRecord();
  record.launchers = {
      {.exit_code = 75,
       .events = {{.kind = RecordKind::kLauncherBegin},
                  {.kind = RecordKind::kAttemptEnds, .t_ns = kSecond},
                  {.kind = RecordKind::kLauncherEnd, .t_ns = kSecond}}},
      {.events = {{.kind = RecordKind::kLauncherBegin, .t_ns = 2 * kSecond}}}};
  EXPECT_EQ(AdviceOnTimeout(record),
            "raise timeout.total (100s), or lower preemption.requeue, as the "
            "launcher was started again 1 time");
}

// One worker waits for the limit of a step, another one for the limit of
// heartbeats.
TEST(AdviceTest, LossesByDifferentLimits_NameNoLimit) {
  constexpr int64_t kLimit = 7'000'000'000;
  Record record;
  record.expect.detected_in_max_ns = 1;
  record.setup.step_timeout_ns = kLimit;
  record.setup.silence_limit_ns = 1'000'000'000;
  record.incarnations = {{.events = {{.kind = RecordKind::kWorkerLost,
                                      .about = 1,
                                      .reason = RecordReason::kDeadline,
                                      .limit_ns = kLimit},
                                     {.kind = RecordKind::kWorkerLost,
                                      .about = 2,
                                      .reason = RecordReason::kSilent,
                                      .limit_ns = 1'000'000'000}}}};
  const CaseResult result = {
      .file = "c.yaml",
      .verdict = {
          .kind = VerdictKind::kFail,
          .invariants = {
              {.invariant = "detection", .instances = 1, .violations = 1}}}};
  EXPECT_EQ(AdviceOn(Outline(record), result),
            "if the delay is right, raise detected_in.max in c.yaml; if the "
            "engine should have detected the loss sooner, see what the worker "
            "that detected the loss did before (gauntlet show RUN/CASE --all)");
}

TEST(AdviceTest, HangBeyondTheEnginesLimits_BlamesTheEngine) {
  Record record;
  record.world = "real";
  record.ending = RunEnding::kHung;
  record.setup.step_timeout_ns = 30'000'000'000;
  record.setup.longest_silence_ns = 46'000'000'000;
  const CaseResult result = {.verdict = {.kind = VerdictKind::kFail,
                                         .invariants = {{.invariant = "no-hang",
                                                         .instances = 1,
                                                         .violations = 1}}}};
  EXPECT_EQ(AdviceOn(Outline(record), result),
            "the engine should end such a wait by itself "
            "(cluster.step_timeout is 30s), so look for the cause there: see "
            "the last events of each worker (gauntlet show RUN/CASE --all)");
  record.setup.planted_bugs = {"lose-rng-key"};
  EXPECT_EQ(AdviceOn(Outline(record), result),
            "remove planted_bugs, which switches on lose-rng-key; to test the "
            "checks instead, expect their violation (see planted)");
}

}  // namespace
}  // namespace gauntlet
