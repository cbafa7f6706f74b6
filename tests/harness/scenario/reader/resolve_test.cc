#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/scenario/run_setup.h"
#include "harness/scenario/scenario.h"
#include "harness/scenario/time_limits.h"

namespace gauntlet {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<Case> Load(const std::string& text) {
  const LoadedFile loaded = LoadScenarios(text, "f.yaml");
  EXPECT_EQ(RenderErrors(loaded, "f.yaml", text), "");
  return loaded.cases;
}

constexpr char kFull[] = R"(schema: gauntlet/v2
name: kill-in-the-middle
labels: [crash, checkpoint]
preset: tiny
requires: {gpus: 0, disk: 256MiB, features: [processes]}
timeout: {slow: 30s, hang: 10s, total: 2m}
seed: 42
planted_bugs: lose-rng-key
job:
  model: mlp
  data: {kind: digits, samples: 4096, validation_samples: 64, side: 7}
  optimizer: {name: sgd, lr: 1e-2, momentum: 0.5}
  epochs: 4
  max_steps: 250
  steps_per_execution: 7
  batch: 16
  replicas: 4
  remainder: keep
cluster:
  workers: 4
  device: emulated
  device_per_attempt: [cpu, emulated, cpu]
  collective: ring
  start_timeout: 7s
  transport: grpc
  heartbeat: {every: 200ms, lost_after: 1s}
  step_timeout: 3s
  restart: {policy: whole-job, max: 5, backoff: 50ms}
disk: {profile: lying-fsync}
checkpoint: {every: {steps: 50}, mode: async, keep: 3, on_success: delete}
faults:
  - id: kill-w1
    at: {worker: 1, point: ckpt.shard.write, occurrence: 3, offset: 50%, incarnation: 1}
    do: crash
    with: {exit_code: 11}
  - id: slow-reload
    after: kill-w1
    at: {worker: all, point: ckpt.load}
    do: slow
    with: {latency: 20ms}
    until: {step: 160}
  - at: {worker: chief, point: ckpt.manifest.write, epoch: 1, step: 100}
    do: torn_write
    with: {blocks: 4, keep: [0, 2], then: power_loss}
  - at: {worker: 0, incarnation: any, step: 120}
    do: preempt
    with: {profile: k8s}
expect:
  outcome: recovers
  invariants: [store, trajectory]
  restarts: {exactly: 1, max: 2}
  resumed_from: {step: 100}
  recomputed_steps: {max: 60}
  detected_in: {max: 2s}
  failed_saves: {exactly: 0}
  ends_at: {epoch: 3, step: 192}
  saves: {exactly: 4}
  checkpoints: [100, 150]
  epochs_after_restart: {exactly: 2}
  loss: falls
  accuracy: rises
  exit_code: 0
)";

TEST(ResolveTest, ReadsTheJobAndItsSurroundings) {
  const std::vector<Case> cases = Load(kFull);
  ASSERT_EQ(cases.size(), 1u);
  const Case& one = cases[0];
  EXPECT_EQ(one.name, "kill-in-the-middle");
  EXPECT_EQ(one.line, 2u);
  EXPECT_EQ(one.expect_line, 48u);
  EXPECT_THAT(one.labels, ElementsAre("crash", "checkpoint"));
  EXPECT_EQ(one.needs.disk_bytes, uint64_t{256} << 20);
  EXPECT_EQ(one.timeouts.hang, seconds(10));
  const JobSpec& job = one.train.job;
  EXPECT_EQ(job.model.layers[1].units, 512) << "mlp's, not tiny's";
  EXPECT_EQ(job.data.side, 7);
  EXPECT_EQ(job.optimizer.kind, OptimizerKind::kSgd);
  EXPECT_EQ(job.optimizer.learning_rate, 0.01f);
  EXPECT_EQ(job.seed, 42u);
  EXPECT_EQ(job.remainder, Remainder::kKeep);
  EXPECT_EQ(one.train.horizon.max_steps, 250u);
  EXPECT_EQ(one.train.steps_per_execution, 7u);
  EXPECT_EQ(one.train.kernels.device, DeviceKind::kEmulated);
  EXPECT_EQ(one.train.cluster.collective, CollectiveChoice::kRing);
  EXPECT_EQ(one.cluster.start_timeout, std::chrono::seconds(7));
  EXPECT_EQ(
      one.train.kernels.device_per_attempt,
      (std::vector{DeviceKind::kCpu, DeviceKind::kEmulated, DeviceKind::kCpu}));
  EXPECT_EQ(one.cluster.transport, TransportChoice::kGrpc);
  EXPECT_EQ(one.cluster.policy, RestartPolicy::kWholeJob);
  EXPECT_EQ(one.cluster.max_restarts, 5);
  EXPECT_EQ(one.train.cluster.lost_after, seconds(1));
  EXPECT_EQ(one.disk, DurabilityProfile::kLyingFsync);
  EXPECT_EQ(one.train.checkpoint.trigger.unit, SaveUnit::kSteps);
  EXPECT_EQ(one.train.checkpoint.trigger.every, 50u);
  EXPECT_EQ(one.train.checkpoint.mode, SaveMode::kAsync);
  EXPECT_EQ(one.train.checkpoint.at_success, AtSuccess::kDeleteCheckpoints);
  EXPECT_EQ(one.train.digest_every, 1u);
  EXPECT_TRUE(one.train.log_samples);
}

TEST(ResolveTest, SingleLabelNeedsNoBrackets) {
  for (const char* labels : {"smoke", "\"a, b\"", "[\"a, b\"]"}) {
    EXPECT_EQ(Load(std::string("schema: gauntlet/v2\nname: a\nlabels: ") +
                   labels + "\nexpect: {outcome: completes}\n")[0]
                  .labels.size(),
              1u)
        << labels;
  }
}

TEST(ResolveTest, ReadsTheDifferencesOfEachLaunch) {
  const Case one = Load(
      "schema: gauntlet/v2\nname: a\npreset: tiny\njob: {epochs: 4}\n"
      "launches: [{epochs: 2, stop_at_step: 5}, {lr: 0.5, batch: 8}, {}]\n"
      "expect: {outcome: completes}\n")[0];
  ASSERT_EQ(one.launches.size(), 3u);
  const TrainOptions first = OptionsOfLaunch(one.train, one.launches[0]);
  EXPECT_EQ(first.horizon.epochs, 2u);
  EXPECT_EQ(first.horizon.stop_at_step, 5u);
  EXPECT_EQ(JobToJson(first.job, {}), JobToJson(one.train.job, {}));
  EXPECT_FALSE(one.launches[0].changes_job());
  const TrainOptions second = OptionsOfLaunch(one.train, one.launches[1]);
  EXPECT_TRUE(one.launches[1].changes_job());
  EXPECT_EQ(second.job.optimizer.learning_rate, 0.5f);
  EXPECT_EQ(second.job.batch, 8);
  EXPECT_EQ(one.launches[2], LaunchSetup());
}

TEST(ResolveTest, ReadsTheWarmStart) {
  const Case one = Load(
      "schema: gauntlet/v2\nname: a\npreset: tiny\n"
      "warm_start: {workers: 3, epochs: 2, steps_per_epoch: 7}\n"
      "expect: {outcome: completes}\n")[0];
  ASSERT_TRUE(one.before);
  EXPECT_EQ(one.before->workers, 3);
  EXPECT_EQ(one.before->epochs, 2u);
  EXPECT_EQ(one.before->steps_per_epoch, 7);
  EXPECT_EQ(one.train.job.data.steps_per_epoch, 0) << "of the job itself";
  EXPECT_FALSE(Load(kFull)[0].before);
}

TEST(ResolveTest, ReadsTheFaultsIntoAPlan) {
  const FaultPlan plan = Load(kFull)[0].plan;
  EXPECT_EQ(plan.seed, 42u);
  EXPECT_THAT(plan.bugs, ElementsAre(PlantedBug::kLoseRngKey));
  ASSERT_EQ(plan.faults.size(), 4u);
  const Fault crash{.id = "kill-w1",
                    .site = {.worker = 1,
                             .incarnation = 1,
                             .point = Point::kShardWrite,
                             .occurrence = 3,
                             .offset = FileOffset{50, OffsetUnit::kPercent}},
                    .kind = FaultKind::kCrash,
                    .with = {.exit_code = 11}};
  EXPECT_EQ(plan.faults[0], crash);
  const Fault slow{.id = "slow-reload",
                   .site = {.worker = kAllWorkers,
                            .incarnation = kAnyIncarnation,
                            .point = Point::kLoadBegin},
                   .kind = FaultKind::kSlow,
                   .after = "kill-w1",
                   .with = {.times = FaultTimes::kAlways,
                            .until_step = 160,
                            .latency = milliseconds(20)}};
  EXPECT_EQ(plan.faults[1], slow);
  const Fault tear{
      .id = "fault-3",
      .site = {.worker = kChief,
               .step = 100,
               .epoch = 1,
               .point = Point::kManifestWrite},
      .kind = FaultKind::kTornWrite,
      .with = {.blocks = 4, .keep = 0b101, .then = AfterTear::kPowerLoss}};
  EXPECT_EQ(plan.faults[2], tear);
  EXPECT_EQ(plan.faults[3].with.grace, seconds(30));
}

// Returns the site of the only fault of a scenario.
FaultSite SiteOf(const std::string& at) {
  return Load("schema: gauntlet/v2\nname: a\npreset: tiny\nfaults: [{at: {" +
              at + "}, do: kill}]\nexpect: {outcome: recovers}\n")[0]
      .plan.faults[0]
      .site;
}

TEST(ResolveTest, ReadsSaveAndBlockOfAFault) {
  EXPECT_EQ(SiteOf("point: ckpt.shard.write, save: 2, block: 3"),
            (FaultSite{.save = 2, .point = Point::kShardWrite, .block = 3}));
  EXPECT_EQ(
      SiteOf("point: ckpt.shard.write, occurrence: 2, block: any"),
      (FaultSite{
          .point = Point::kShardWrite, .occurrence = 2, .block = kAnyBlock}));
  EXPECT_EQ(SiteOf("point: ckpt.shard.write"),
            (FaultSite{.point = Point::kShardWrite}));
}

// Returns the warnings about a fault of a job with saves in that mode.
std::string WarningsOf(const std::string& mode, const std::string& fault) {
  const std::string text =
      "schema: gauntlet/v2\nname: a\npreset: tiny\ncheckpoint: {mode: " + mode +
      "}\nfaults: [{" + fault + "}]\nexpect: {outcome: recovers}\n";
  const LoadedFile loaded = LoadScenarios(text, "f.yaml");
  EXPECT_EQ(RenderErrors(loaded, "f.yaml", text), "");
  EXPECT_EQ(loaded.cases.size(), 1u);
  return RenderWarnings(loaded, "f.yaml", text);
}

TEST(ResolveTest, WarnsOfAnOutcomeThatCannotBe) {
  const std::string fault = "faults: [{at: {step: 9}, do: crash}]\n";
  const std::string notice =
      "faults: [{at: {step: 9, incarnation: any}, do: preempt, with: {grace: "
      "30s}";
  const std::string resumed =
      "expect: {outcome: stops-cleanly, resumed_from: {step: 5}}";
  const struct {
    std::string body;
    std::string warning;
  } kCases[] = {
      {"expect: {outcome: recovers}",
       "f.yaml:3:19: warning: `recovers` needs an interruption, but the "
       "scenario has no fault"},
      {fault + "expect: {outcome: recovers}", ""},
      {"launches: [{stop_at_step: 5}, {}]\nexpect: {outcome: recovers}", ""},
      {"disk: {capacity: 48KiB}\nexpect: {outcome: recovers}", ""},
      {"expect: {outcome: completes}", ""},
      {fault + "expect: {outcome: stops-cleanly, exit_code: 0}",
       "f.yaml:4:45: warning: cannot be met: exit code 0, but that of "
       "stops-cleanly is 143"},
      {fault + "expect: {outcome: stops-cleanly, exit_code: 143}", ""},
      {fault + "expect: {outcome: refuses, exit_code: 8}", ""},
      {"preemption: {requeue: 0}\n" + notice + "}]\n" + resumed,
       "f.yaml:5:48: warning: `resumed_from` needs a restart before the stop, "
       "but the scenario has only a notice, and preemption.requeue is 0"},
      {"preemption: {requeue: 1}\n" + notice + "}]\n" + resumed, ""},
      {"preemption: {requeue: 0}\n" + notice +
           "}, {at: {step: 7}, do: crash}]\n" + resumed,
       ""},
      {"preemption: {requeue: 0}\n" + notice +
           "}]\nexpect: {outcome: stops-cleanly}",
       ""},
  };
  for (const auto& [body, warning] : kCases) {
    const std::string text = "schema: gauntlet/v2\nname: a\n" + body + "\n";
    const std::string found =
        RenderWarnings(LoadScenarios(text, "f.yaml"), "f.yaml", text);
    EXPECT_EQ(found.substr(0, found.find('\n')), warning) << body;
  }
}

// Returns the warnings about a scenario that expects a resume from that step.
std::string WarningsOfResume(const std::string& setup, int step,
                             const std::string& outcome = "recovers",
                             const std::string& fault = "do: crash") {
  const std::string text =
      "schema: gauntlet/v2\nname: a\n" + setup + "\nfaults: [{at: {step: 9}, " +
      fault + "}]\nexpect: {outcome: " + outcome +
      ", resumed_from: {step: " + std::to_string(step) + "}}\n";
  const LoadedFile loaded = LoadScenarios(text, "f.yaml");
  EXPECT_EQ(RenderErrors(loaded, "f.yaml", text), "");
  EXPECT_EQ(loaded.cases.size(), 1u);
  return RenderWarnings(loaded, "f.yaml", text);
}

TEST(ResolveTest, WarnsOfAResumeFromAStepWithoutASave) {
  const std::string fives = "checkpoint: {every: {steps: 5}}";
  EXPECT_EQ(WarningsOfResume(fives, 7),
            "f.yaml:5:50: warning: cannot be met: step 7, but the nearest "
            "saves are at steps 5 and 10\n"
            "  5 | expect: {outcome: recovers, resumed_from: {step: 7}}\n"
            "    | " +
                std::string(49, ' ') + "^ step: 5, or step: 10\n");
  // The run has 36 steps, 12 in each epoch.
  const struct {
    std::string checkpoint;
    int step;
    std::string why;
  } kCases[] = {
      {"every: {steps: 5}, mode: async", 7,
       "the nearest saves are at steps 5 and 10"},
      {"every: {steps: 5}", 0, "the first save is at step 5"},
      {"every: {steps: 5}", 37, "the last save is at step 36"},
      {"every: {steps: 5}, on_success: leave", 36,
       "the last save is at step 35"},
      {"every: {steps: 40}, on_success: leave", 7, "the run makes no save"},
      {"every: {epochs: 1}", 7, "the first save is at step 12"},
  };
  for (const auto& [checkpoint, step, why] : kCases) {
    EXPECT_THAT(WarningsOfResume("checkpoint: {" + checkpoint + "}", step),
                HasSubstr("warning: cannot be met: step " +
                          std::to_string(step) + ", but " + why + "\n"))
        << checkpoint;
  }
}

// The run has 36 steps in 3 epochs.
TEST(ResolveTest, WarnsOfAnEndAfterTheLastStepOrEpoch) {
  const auto warnings = [](const std::string& end,
                           const std::string& more = "") {
    const std::string text = "schema: gauntlet/v2\nname: a\n" + more +
                             "expect: {outcome: completes, ends_at: {" + end +
                             "}}\n";
    const LoadedFile loaded = LoadScenarios(text, "f.yaml");
    EXPECT_EQ(RenderErrors(loaded, "f.yaml", text), "");
    return RenderWarnings(loaded, "f.yaml", text);
  };
  EXPECT_EQ(warnings("step: 99"),
            "f.yaml:3:46: warning: cannot be met: step 99, but the run has 36\n"
            "  3 | expect: {outcome: completes, ends_at: {step: 99}}\n"
            "    | " +
                std::string(45, ' ') + "^ step: 36\n");
  EXPECT_THAT(warnings("epoch: 4"),
              HasSubstr("cannot be met: epoch 4, but the run has 3\n"));
  EXPECT_THAT(warnings("epoch: 3", "job: {max_steps: 30}\n"),
              HasSubstr("cannot be met: epoch 3, but the run has 2\n"));
  EXPECT_EQ(warnings("epoch: 3, step: 36"), "");
  EXPECT_EQ(warnings("step: 12, epoch: 1"), "") << "a stop may come earlier";
}

// The run has 36 steps.
TEST(ResolveTest, ResumeThatNoSavePermits_NamesATriggerOrItsRemoval) {
  const std::string none =
      "checkpoint: {every: {steps: 40}, on_success: leave}";
  const std::string remove = "^ remove resumed_from\n";
  EXPECT_THAT(WarningsOfResume(none, 7),
              HasSubstr("^ checkpoint: {every: {steps: 7}}\n"));
  EXPECT_THAT(WarningsOfResume(none, 37), HasSubstr(remove));
  EXPECT_THAT(WarningsOfResume(none, 0), HasSubstr(remove));
  EXPECT_THAT(WarningsOfResume("checkpoint: {every: {steps: 5}}", 0),
              HasSubstr(remove));
}

TEST(ResolveTest, DoesNotWarnOfAResumeFromAStepThatMayBeSaved) {
  const std::string fives = "checkpoint: {every: {steps: 5}}";
  EXPECT_EQ(WarningsOfResume(fives, 5), "");
  EXPECT_EQ(WarningsOfResume(fives, 36), "") << "the save at the end";
  EXPECT_EQ(WarningsOfResume("checkpoint: {every: {epochs: 1}}", 24), "");
  EXPECT_EQ(WarningsOfResume("checkpoint: {every: {seconds: 1}}", 7), "");
  EXPECT_EQ(WarningsOfResume(fives + "\njob: {steps_per_execution: 7}", 7), "");
  EXPECT_EQ(WarningsOfResume(fives + "\nlaunches: [{stop_at_step: 11}, {}]", 7),
            "");
  EXPECT_EQ(
      WarningsOfResume(
          fives + "\ncluster: {workers: 2, restart: {policy: rejoin}}", 7),
      "");
  EXPECT_EQ(
      WarningsOfResume(fives, 7, "recovers", "do: preempt, with: {grace: 30s}"),
      "");
}

TEST(ResolveTest, WarnsOfAResumeInARunThatCompletes) {
  const std::string fives = "checkpoint: {every: {steps: 5}}";
  EXPECT_EQ(WarningsOfResume(fives, 5, "completes"),
            "f.yaml:5:44: warning: `resumed_from` needs a restart, but a run "
            "that restarts does not complete, it recovers\n"
            "  5 | expect: {outcome: completes, resumed_from: {step: 5}}\n"
            "    | " +
                std::string(43, ' ') +
                "^ remove resumed_from, or expect: {outcome: recovers}\n");
  EXPECT_EQ(WarningsOfResume(
                fives + "\ncluster: {workers: 2, restart: {policy: rejoin}}", 5,
                "completes"),
            "");
}

TEST(ResolveTest, WarnsOfARecoveryWithoutARestart) {
  const auto warnings = [](const std::string& restarts) {
    const std::string text =
        "schema: gauntlet/v2\nname: a\nfaults: [{at: {step: 9}, do: crash}]\n"
        "expect: {outcome: recovers, restarts: {" +
        restarts + "}}\n";
    const LoadedFile loaded = LoadScenarios(text, "f.yaml");
    EXPECT_EQ(RenderErrors(loaded, "f.yaml", text), "");
    return RenderWarnings(loaded, "f.yaml", text);
  };
  for (const std::string none : {"exactly: 0", "max: 0"}) {
    EXPECT_THAT(warnings(none),
                testing::StartsWith(
                    "f.yaml:4:39: warning: `recovers` needs a restart, but "
                    "`restarts` excludes it\n"));
  }
  EXPECT_EQ(warnings("exactly: 1"), "");
}

TEST(ResolveTest, WarnsOfACompletionWithARestart) {
  const std::string text =
      "schema: gauntlet/v2\nname: a\nfaults: [{at: {step: 9}, do: crash}]\n"
      "expect: {outcome: completes, restarts: {exactly: 1}}\n";
  const LoadedFile loaded = LoadScenarios(text, "f.yaml");
  EXPECT_THAT(RenderWarnings(loaded, "f.yaml", text),
              testing::StartsWith(
                  "f.yaml:4:40: warning: `restarts` needs a restart, but a run "
                  "that restarts does not complete, it recovers\n"));
}

TEST(ResolveTest, WarnsOfAStepAtAPointInTheBackground) {
  EXPECT_EQ(
      WarningsOf("async", "at: {step: 14, point: ckpt.rename}, do: crash"),
      "f.yaml:5:22: warning: `step` at ckpt.rename is the step that training "
      "has reached, not that of the checkpoint: timing decides in which save "
      "the fault fires, if in any\n"
      "  5 | faults: [{at: {step: 14, point: ckpt.rename}, do: crash}]\n"
      "    |                      ^ `save: N` selects the N-th save instead\n");
  for (const std::string mode : {"sync", "async"}) {
    for (const std::string point :
         {"ckpt.state.write", "ckpt.state.fsync", "ckpt.state.rename",
          "ckpt.retire.rename", "ckpt.retire.renamed", "ckpt.retire.remove",
          "ckpt.end"}) {
      const auto warnings = [&](const std::string& at) {
        return WarningsOf(
            mode + ", keep: 1",
            "at: {worker: chief, " + at + ", point: " + point + "}, do: crash");
      };
      for (const std::string step : {"12", "13", "24"}) {
        EXPECT_THAT(warnings("step: " + step),
                    HasSubstr("warning: `step` at " + point +
                              " is the step that training has reached, not "
                              "that of the checkpoint"))
            << mode << " " << step;
      }
      EXPECT_EQ(warnings("save: 2"), "") << mode << " " << point;
    }
  }
}

TEST(ResolveTest, WarnsOfAFaultThatFiresByChance) {
  EXPECT_THAT(
      WarningsOf("sync", "at: {step: 9, point: ctl.heartbeat}, do: crash"),
      HasSubstr("fires only by chance: heartbeats have a time of their own"));
  EXPECT_THAT(
      WarningsOf("sync", "at: {step: 9}, do: kill, with: {latency: 0s}"),
      HasSubstr("f.yaml:5:42: warning: what the process does in the time "
                "before this kill is not controlled"));
}

TEST(ResolveTest, WarnsOfALateKill_UnlessTheProcessIsHeld) {
  const auto warns = [](const std::string& kill, const std::string& slow) {
    return !WarningsOf("sync", kill + ", do: kill, with: {latency: 100ms}}, {" +
                                   slow + ", do: slow, with: {latency: 1s}")
                .empty();
  };
  const std::string step = "at: {worker: 0, step: 9}";
  EXPECT_FALSE(warns(step, step));
  EXPECT_TRUE(warns(step, "at: {worker: 0, step: 8}"));
  EXPECT_TRUE(warns(step, "at: {worker: 1, step: 9}"));
  EXPECT_THAT(WarningsOf("sync", step + ", do: kill, with: {latency: 2s}}, {" +
                                     step + ", do: slow, with: {latency: 1s}"),
              HasSubstr("not controlled"));
  const std::string join = "at: {worker: 0, point: cluster.join}";
  EXPECT_FALSE(warns(join, "at: {worker: 1, point: cluster.join}"));
}

TEST(ResolveTest, DoesNotWarnOfAFaultAtACertainPlace) {
  EXPECT_EQ(WarningsOf("sync", "at: {step: 12, point: ckpt.rename}, do: crash"),
            "");
  EXPECT_EQ(WarningsOf("async", "at: {save: 2, point: ckpt.rename}, do: crash"),
            "");
  EXPECT_EQ(WarningsOf("sync",
                       "at: {worker: 1, step: 12, point: ckpt.end}, do: crash"),
            "");
  EXPECT_EQ(
      WarningsOf("sync", "at: {step: 0, point: ckpt.state.write}, do: crash"),
      "");
  EXPECT_EQ(WarningsOf("async", "at: {step: 12, point: ckpt.copy}, do: crash"),
            "");
  EXPECT_EQ(WarningsOf("async", "at: {step: 12, point: ckpt.begin}, do: crash"),
            "");
  EXPECT_EQ(WarningsOf("sync", "at: {step: 9}, do: kill"), "");
  EXPECT_EQ(WarningsOf("sync", "at: {point: ctl.heartbeat}, do: kill"), "");
}

TEST(ResolveTest, WarnsOfAStepWithoutASave_IfOnlyOtherFaultsLeadToOne) {
  EXPECT_EQ(
      WarningsOf(
          "sync",
          "at: {step: 9, incarnation: 2, point: ckpt.rename}, do: crash}, "
          "{at: {step: 7}, do: crash"),
      "f.yaml:5:22: warning: fires only if another fault leads to a save "
      "there: step 9, but the first save is at step 12\n"
      "  5 | faults: [{at: {step: 9, incarnation: 2, point: ckpt.rename}, do: "
      "crash}, "
      "{at: {step: 7}, do: crash}]\n"
      "    |                      ^ step: 12\n");
  EXPECT_EQ(WarningsOf("sync",
                       "at: {step: 9, point: ckpt.rename}, do: crash}, "
                       "{at: {step: 7}, do: preempt, with: {grace: 5s}"),
            "");
}

TEST(ResolveTest, WarnsOfAnOccurrenceThatNoIncarnationHas) {
  const std::string faults =
      "id: a, at: {worker: 1, step: 8}, do: crash}, {after: a, at: {worker: 1, "
      "step: 6, occurrence: N}, do: crash";
  const auto warnings = [&](const std::string& occurrence) {
    return WarningsOf(
        "sync", std::string(faults).replace(faults.find('N'), 1, occurrence));
  };
  EXPECT_THAT(warnings("2"),
              HasSubstr("warning: never fires: occurrence 2 of step.begin, but "
                        "an incarnation comes to it 1 time in step 6\n"));
  EXPECT_EQ(warnings("1"), "");
}

TEST(ResolveTest, ReadsExpectations) {
  const Expectation expected{
      .outcome = Outcome::kRecovers,
      .invariants = {"store", "trajectory"},
      .restarts_exactly = 1,
      .restarts_max = 2,
      .resumed_from_step = 100,
      .recomputed_steps_max = 60,
      .detected_in_max_ns = 2'000'000'000,
      .failed_saves_exactly = 0,
      .exit_code = 0,
      .ends_at_epoch = 3,
      .ends_at_step = 192,
      .saves_exactly = 4,
      .checkpoints_left = std::vector<uint64_t>{100, 150},
      .epochs_after_restart_exactly = 2,
      .loss_falls = true,
      .accuracy_rises = true};
  EXPECT_EQ(Load(kFull)[0].expect, expected);
}

TEST(ResolveTest, RecordSetup_HasTheOraclesInputs) {
  const Record record = RecordHead(Load(kFull)[0]);
  EXPECT_EQ(record.setup.workers, 4);
  EXPECT_EQ(record.setup.rows_per_epoch, 4096u);
  EXPECT_EQ(record.setup.save_interval_steps, 56u)
      << "50, and the wait for the end of an execution of 7";
  EXPECT_EQ(record.setup.detection_bound_ns, 5'000'000'000);
  EXPECT_THAT(record.setup.planted_bugs, ElementsAre("lose-rng-key"));
  ASSERT_EQ(record.faults.size(), 4u);
  EXPECT_EQ(record.faults[0].summary,
            "crash worker 1 at ckpt.shard.write, occurrence 3, offset 50%, "
            "exit_code 11");
  EXPECT_EQ(record.faults[2].then, "power_loss");
  EXPECT_EQ(record.faults[2].disk, "lying-fsync");
  EXPECT_EQ(record.faults[0].disk, "") << "cuts no power";
  EXPECT_EQ(record.faults[3].grace_ns, 30'000'000'000);
}

TEST(ResolveTest, FaultSummaryNamesWhatDiffersFromTheDefault) {
  struct SummaryCase {
    const char* fault;
    const char* summary;
  };
  const SummaryCase kCases[] = {
      {"at: {worker: 1, step: 6}, do: crash",
       "crash worker 1 at step.begin, step 6"},
      {"at: {worker: 1, step: 6, incarnation: any}, do: crash, with: {repeat: "
       "always}",
       "crash worker 1 at step.begin, step 6, incarnation any, repeat always"},
      {"at: {worker: 1, point: ckpt.begin}, do: errno",
       "errno worker 1 at ckpt.begin, error EIO"},
      {"at: {worker: 1, point: ckpt.begin}, do: errno, with: {error: ENOSPC, "
       "repeat: always}, until: {step: 9}",
       "errno worker 1 at ckpt.begin, error ENOSPC, repeat always in "
       "incarnation 1, until step 9"},
      {"at: {worker: 1, point: ckpt.begin}, do: errno, with: {consecutive: 3}",
       "errno worker 1 at ckpt.begin, error EIO, consecutive 3"},
      {"at: {worker: 1, step: 6}, do: pause, with: {duration: 9s}",
       "pause worker 1 at step.begin, step 6, for 9s"},
      {"at: {worker: 1, step: 6}, do: hang",
       "hang worker 1 at step.begin, "
       "step 6"},
      {"at: {worker: 1, step: 6}, do: slow, with: {latency: 4s}",
       "slow worker 1 at step.begin, step 6, latency 4s"},
      {"at: {worker: 1, step: 6}, do: delay, with: {latency: 2s, jitter: "
       "500ms, duration: 3s}",
       "delay worker 1 at step.begin, step 6, for 3s, latency 2s, jitter "
       "500ms"},
      {"at: {worker: 1, step: 6}, do: kill, with: {latency: 5ms}",
       "kill worker 1 at step.begin, step 6, 5ms later"},
      {"at: {worker: 1, step: 6}, do: crash, with: {exit_code: 11}",
       "crash worker 1 at step.begin, step 6, exit_code 11"},
      {"at: {worker: 1, step: 6}, do: preempt, with: {grace: 2s, by: file}",
       "preempt worker 1 at step.begin, step 6, grace 2s, by file"},
      {"at: {worker: 1, point: ckpt.shard.write}, do: torn_write, with: {keep: "
       "[0, 2], then: power_loss}",
       "torn_write worker 1 at ckpt.shard.write, keep [0, 2], then power_loss"},
      {"at: {worker: 1, point: ckpt.shard.write}, do: bit_flip, with: {offset: "
       "40, bit: 3}",
       "bit_flip worker 1 at ckpt.shard.write, byte 40 of the file, bit 3"},
  };
  for (const auto& [fault, summary] : kCases) {
    const std::vector<Case> cases =
        Load(std::string("schema: gauntlet/v2\nname: a\npreset: tiny\n"
                         "cluster: {workers: 2}\nfaults: [{id: f, ") +
             fault + "}]\nexpect: {outcome: recovers}\n");
    ASSERT_EQ(cases.size(), 1u) << fault;
    EXPECT_EQ(FaultSummary(cases[0].plan.faults.at(0)), summary);
  }
}

// Returns the cases of a scenario with `data` as its `job.data`.
std::vector<Case> WithData(const std::string& data) {
  return Load(
      "schema: gauntlet/v2\nname: a\npreset: tiny\njob: {replicas: 4, "
      "data: {" +
      data + "}}\nexpect: {outcome: completes}\n");
}

TEST(ResolveTest, ReadsDataAndSampling) {
  const DataSpec data =
      WithData(
          "kind: npy, path: /n, classes: 3, shuffle: off, shard: auto, "
          "steps_per_epoch: 5, validation_steps: 2")[0]
          .train.job.data;
  EXPECT_EQ(data.kind, DataKind::kNpy);
  EXPECT_EQ(data.classes, 3);
  EXPECT_EQ(data.shuffle, Shuffle::kOff);
  EXPECT_EQ(data.shard, ShardPolicy::kAuto);
  EXPECT_EQ(data.steps_per_epoch, 5);
  EXPECT_EQ(data.validation_steps, 2);
}

TEST(ResolveTest, RowsOfAnEpochFollowTheShardPolicy) {
  const auto rows_of = [](const std::string& data) {
    return RecordHead(WithData(data)[0]).setup.rows_per_epoch;
  };
  EXPECT_EQ(rows_of("samples: 100"), 64u);
  EXPECT_EQ(rows_of("samples: 100, shard: off"), 4 * 96u);
  EXPECT_EQ(rows_of("samples: 200, steps_per_epoch: 2"), 128u);
}

TEST(ResolveTest, MinimalScenarioTakesTheDefaults) {
  const Case one =
      Load("schema: gauntlet/v2\nname: a\nexpect: {outcome: completes}\n")[0];
  EXPECT_EQ(one.cluster.workers, 2);
  EXPECT_EQ(one.train.job.replicas, 2) << "as many as workers";
  EXPECT_EQ(one.train.job.batch, 16) << "tiny's";
  EXPECT_EQ(one.train.horizon.epochs, 3u);
  EXPECT_EQ(one.seed, 1u);
  EXPECT_TRUE(one.plan.faults.empty());
}

// Returns the case of a scenario of two workers with `rest` in it.
Case With(const std::string& rest) {
  return Load("schema: gauntlet/v2\nname: a\n" + rest +
              "\nexpect: {outcome: recovers}\n")[0];
}

TEST(ResolveTest, HangIsWaitedForUntilTheEngineHasFoundIt) {
  const std::string hang = "\nfaults: [{at: {step: 2}, do: hang}]";
  for (const Case& usual : {With(""), With(hang)}) {
    EXPECT_GT(HangLimitOf(usual), usual.train.cluster.step_timeout);
    EXPECT_GT(TotalLimitOf(usual), HangLimitOf(usual));
  }
  const Case saving = With("faults: [{at: {point: ckpt.begin}, do: hang}]");
  EXPECT_GT(HangLimitOf(saving), saving.train.cluster.save_timeout);
  EXPECT_GT(TotalLimitOf(saving), HangLimitOf(saving));
  const std::string fast =
      "cluster: {step_timeout: 1s, heartbeat: {lost_after: 1s}}";
  EXPECT_EQ(HangLimitOf(With(fast + hang)), seconds(15)) << "at the least";
  EXPECT_EQ(HangLimitOf(With("timeout: {hang: 31s}" + hang)), seconds(31));
  EXPECT_EQ(
      HangLimitOf(With(fast + "\nfaults: [{at: {point: ckpt.begin}, do: slow, "
                              "with: {latency: 20s}}]")),
      seconds(25) + milliseconds(100))
      << "as long as it is slow";
  EXPECT_EQ(
      HangLimitOf(With(fast + "\nfaults: [{at: {point: ckpt.begin}, do: delay, "
                              "with: {latency: 15s, jitter: 5s}}]")),
      seconds(25) + milliseconds(100))
      << "as long as the longest delay";
}

// The fault may keep the workers from rejoining, too.
TEST(ResolveTest, PartitionIsWaitedForUntilARejoinHasFailed) {
  const auto partition = [](const std::string& policy,
                            const std::string& parameters) {
    return With("cluster: {restart: {policy: " + policy +
                "}}\nfaults: [{at: {step: 2}, do: partition" + parameters +
                "}]");
  };
  const Case whole_job = partition("whole-job", "");
  EXPECT_LT(HangLimitOf(whole_job), whole_job.train.cluster.save_timeout);
  const Case rejoin = partition("rejoin", "");
  EXPECT_GT(HangLimitOf(rejoin), rejoin.train.cluster.save_timeout +
                                     rejoin.train.cluster.rendezvous_timeout);
  EXPECT_EQ(HangLimitOf(partition("rejoin", ", with: {duration: 20s}")),
            HangLimitOf(whole_job) + seconds(20));
  EXPECT_EQ(
      HangLimitOf(With("cluster: {restart: {policy: rejoin}}\n"
                       "faults: [{at: {step: 2}, do: connection_reset}]")),
      HangLimitOf(whole_job))
      << "a reset does not last";
}

TEST(ResolveTest, NoCheckpointsIsNotTheSameAsAny) {
  const auto left = [](const std::string& expected) {
    return Load("schema: gauntlet/v2\nname: a\nexpect: {outcome: completes" +
                expected + "}\n")[0]
        .expect.checkpoints_left;
  };
  EXPECT_EQ(left(""), std::nullopt);
  EXPECT_EQ(left(", checkpoints: []"), std::vector<uint64_t>());
}

TEST(ResolveTest, MatrixMakesACaseOfEachCombination) {
  const std::vector<Case> cases = Load(R"(schema: gauntlet/v2
name: a
job: {replicas: 4, epochs: 2}
matrix:
  cluster.workers: [2, 4]
  checkpoint.every: [{steps: 2}, never]
expect: {outcome: completes}
)");
  std::vector<std::string> names;
  for (const Case& one : cases) names.push_back(one.name);
  EXPECT_THAT(
      names,
      ElementsAre("a[workers=2,every=steps:2]", "a[workers=2,every=never]",
                  "a[workers=4,every=steps:2]", "a[workers=4,every=never]"));
  EXPECT_EQ(cases[2].cluster.workers, 4);
  EXPECT_EQ(cases[2].train.checkpoint.trigger.every, 2u);
  EXPECT_EQ(cases[3].train.checkpoint.trigger.unit, SaveUnit::kNone);
  EXPECT_EQ(cases[3].train.job.replicas, 4);
}

TEST(ResolveTest, FileMayHoldSeveralScenarios) {
  const std::vector<Case> cases = Load(R"(schema: gauntlet/v2
name: a
expect: {outcome: completes}
---
schema: gauntlet/v2
name: b
expect: {outcome: completes}
)");
  ASSERT_EQ(cases.size(), 2u);
  EXPECT_EQ(cases[1].name, "b");
  EXPECT_EQ(cases[1].line, 6u);
}

TEST(ResolveTest, AppliesToAnyIncarnationAfterAnotherFault) {
  const Case one = Load(R"(schema: gauntlet/v2
name: a
faults:
  - {id: x, at: {step: 3}, do: crash}
  - {after: x, at: {step: 3}, do: crash}
expect: {outcome: recovers}
)")[0];
  EXPECT_EQ(one.plan.faults[0].site.incarnation, 1);
  EXPECT_EQ(one.plan.faults[1].site.incarnation, kAnyIncarnation);
}

TEST(ResolveTest, WarnsOfANoticeWithLessGraceThanTheTrainerCountsOn) {
  const auto warnings = [](const std::string& told,
                           const std::string& granted) {
    const std::string text =
        "schema: gauntlet/v2\nname: a\npreemption: {" + told +
        "}\nfaults:\n  - {id: p, at: {worker: 0, step: 3}, do: preempt, with: "
        "{grace: " +
        granted + "}}\nexpect: {outcome: recovers}\n";
    const LoadedFile loaded = LoadScenarios(text, "f.yaml");
    EXPECT_EQ(RenderErrors(loaded, "f.yaml", text), "");
    return RenderWarnings(loaded, "f.yaml", text);
  };
  EXPECT_THAT(
      warnings("grace: 30s", "10s"),
      testing::AllOf(testing::HasSubstr(
                         "fault `p` kills its worker 10s after the notice, but "
                         "preemption.grace tells the trainer 30s"),
                     testing::HasSubstr("^ preemption: {grace: 10s}")));
  EXPECT_EQ(warnings("grace: 10s", "10s"), "");
  EXPECT_EQ(warnings("poll_every: 1s", "10s"), "");
  // A worker without a grace period gets no notice.
  EXPECT_EQ(warnings("grace: 30s", "0s"), "");
}

}  // namespace
}  // namespace gauntlet
