// Explanations for the end of a process, and for a worker that gives up another
// worker.
#include "harness/oracle/process/processes.h"

#include <functional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/oracle/scripted_cluster.h"

namespace gauntlet {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using Reason = RecordReason;

constexpr std::string_view kDeaths = "no-spontaneous-exit";
constexpr std::string_view kDetection = "detection";
constexpr std::string_view kGrace = "grace";
constexpr int64_t kMs = ScriptedCluster::kMs;

RecordFault Crash() {
  return {.id = "crash", .kind = "crash", .point = "step.begin"};
}

RecordFault Lasting(std::string kind, int64_t ms) {
  return {.id = kind,
          .kind = std::move(kind),
          .point = "step.begin",
          .latency_ns = ms * kMs,
          .duration_ns = ms * kMs};
}

// The other workers give up the lost one immediately, and leave.
void OthersLeave(ScriptedCluster& cluster, int lost) {
  for (int worker = 0; worker < ScriptedCluster::kWorkers; ++worker) {
    if (worker == lost) continue;
    cluster.Wait(1)
        .GivesUp(worker, lost, Reason::kClosed, 1'000)
        .Leaves(worker, Reason::kLostWorker);
  }
}

TEST(ProcessesTest, FinishedWorkersNeedNoCause) {
  ScriptedCluster cluster;
  cluster.Finish();
  EXPECT_THAT(cluster.Violations(kDeaths), IsEmpty());
  EXPECT_THAT(cluster.Violations(kDetection), IsEmpty());
}

TEST(ProcessesTest, FaultExplainsTheDeathOfItsProcess) {
  ScriptedCluster cluster;
  cluster.Fire(1, Crash()).EndsWith(1, 70);
  OthersLeave(cluster, 1);
  EXPECT_THAT(cluster.Violations(kDeaths), IsEmpty());
  EXPECT_THAT(cluster.Violations(kDetection), IsEmpty());
}

TEST(ProcessesTest, FaultDoesNotExplainTheDeathOfAnotherProcess) {
  ScriptedCluster cluster;
  cluster.Fire(1, Crash()).EndsWith(1, 70);
  cluster.IsKilled(2);
  cluster.Wait(1)
      .GivesUp(0, 1, Reason::kClosed, 1'000)
      .Leaves(0, Reason::kLostWorker);
  EXPECT_THAT(cluster.Violations(kDeaths), ElementsAre("unexplained-death"));
}

TEST(ProcessesTest, KillByTheLauncherExplainsADeath) {
  ScriptedCluster cluster;
  cluster.Fire(1, Crash()).EndsWith(1, 70);
  cluster.Wait(1)
      .GivesUp(0, 1, Reason::kClosed, 1'000)
      .Leaves(0, Reason::kLostWorker);
  cluster.Wait(500).LauncherKills(2);
  EXPECT_THAT(cluster.Violations(kDeaths), IsEmpty());
}

TEST(ProcessesTest, KillExplainsNoDeathBeforeIt) {
  RecordFault kill = {.id = "kill", .kind = "kill", .latency_ns = 100 * kMs};
  ScriptedCluster early;
  early.Fire(1, kill).Wait(99).IsKilled(1);
  OthersLeave(early, 1);
  EXPECT_THAT(early.Violations(kDeaths), IsEmpty())
      << "within the stamps' slack";
  ScriptedCluster earlier;
  earlier.Fire(1, kill).Wait(50).IsKilled(1);
  OthersLeave(earlier, 1);
  EXPECT_THAT(earlier.Violations(kDeaths), ElementsAre("unexplained-death"));
}

TEST(ProcessesTest, ExitCodeMustEqualTheReportedOne) {
  ScriptedCluster cluster;
  cluster.Fire(1, Crash()).EndsWith(1, 70);
  cluster.GivesUp(0, 1, Reason::kClosed, 1'000)
      .Emits(0, {.kind = RecordKind::kWorkerExited,
                 .count = 75,
                 .reason = Reason::kLostWorker})
      .EndsWith(0, 1);
  cluster.GivesUp(2, 1, Reason::kClosed, 1'000).Leaves(2, Reason::kLostWorker);
  EXPECT_THAT(cluster.Violations(kDeaths), ElementsAre("exit-code"));
}

TEST(ProcessesTest, NoEventFollowsTheExit) {
  ScriptedCluster cluster;
  cluster.Fire(1, Crash())
      .EndsWith(1, 70)
      .Wait(5)
      .Emits(1, {.kind = RecordKind::kStep, .step = 3});
  OthersLeave(cluster, 1);
  EXPECT_THAT(cluster.Violations(kDeaths), ElementsAre("after-end"));
}

TEST(ProcessesTest, WorkerThatLeavesReportsALoss) {
  ScriptedCluster cluster;
  cluster.Fire(1, Crash()).EndsWith(1, 70).Wait(1);
  cluster.Leaves(0, Reason::kLostWorker);
  cluster.GivesUp(2, 0, Reason::kClosed, 1'000).Leaves(2, Reason::kLostWorker);
  EXPECT_THAT(cluster.Violations(kDeaths), ElementsAre("unexplained-exit"));
}

TEST(ProcessesTest, OpenConnectionIsNotLost) {
  ScriptedCluster cluster;
  OthersLeave(cluster, 1);
  EXPECT_THAT(cluster.Violations(kDeaths), Contains("unexplained-loss"));
}

// A fault that lasts for a millisecond and harms no worker.
class HarmlessFaultTest : public testing::TestWithParam<std::string> {
 protected:
  void Happen(ScriptedCluster& cluster) {
    cluster.Fire(2, Lasting(GetParam(), 1)).Wait(5).Step().Step();
  }
};

TEST_P(HarmlessFaultTest, ExcusesNoDeath) {
  ScriptedCluster cluster;
  Happen(cluster);
  cluster.IsKilled(1);
  OthersLeave(cluster, 1);
  EXPECT_THAT(cluster.Violations(kDeaths), ElementsAre("unexplained-death"));
}

TEST_P(HarmlessFaultTest, ExcusesNoFalseTimeout) {
  ScriptedCluster cluster;
  Happen(cluster);
  cluster.Wait(10'000)
      .GivesUp(0, 1, Reason::kDeadline, 10'000)
      .Leaves(0, Reason::kDeadline);
  EXPECT_THAT(cluster.Violations(kDeaths), ElementsAre("unexplained-loss"));
}

TEST_P(HarmlessFaultTest, ExcusesNoFalseSilence) {
  ScriptedCluster cluster;
  Happen(cluster);
  cluster.Wait(1'000)
      .GivesUp(0, 1, Reason::kSilent, 1'000)
      .Leaves(0, Reason::kLostWorker);
  EXPECT_THAT(cluster.Violations(kDeaths), ElementsAre("unexplained-loss"));
}

TEST_P(HarmlessFaultTest, ExcusesNoLateDetection) {
  ScriptedCluster cluster;
  Happen(cluster);
  cluster.Fire(1, Crash()).EndsWith(1, 70).Wait(3'600'000);
  OthersLeave(cluster, 1);
  EXPECT_THAT(cluster.Violations(kDetection), ElementsAre("late", "late"));
  EXPECT_THAT(cluster.Violations(kDeaths), IsEmpty());
}

TEST_P(HarmlessFaultTest, ExcusesNoIgnoredNotice) {
  ScriptedCluster cluster;
  Happen(cluster);
  cluster.Emits(1, {.kind = RecordKind::kNotice}).Step().Step().Step().Finish();
  EXPECT_THAT(cluster.Violations(kGrace), ElementsAre("unheeded"));
}

INSTANTIATE_TEST_SUITE_P(Kinds, HarmlessFaultTest,
                         testing::Values("slow", "hang", "pause", "partition",
                                         "asymmetric_partition", "delay",
                                         "packet_loss", "duplicate"),
                         [](const auto& test) { return test.param; });

TEST(ProcessesTest, TwoMoreStepsMayFollowANotice) {
  ScriptedCluster cluster;
  cluster.Emits(1, {.kind = RecordKind::kNotice}).Step().Step();
  for (int worker = 0; worker < ScriptedCluster::kWorkers; ++worker) {
    cluster.Emits(worker, {.kind = RecordKind::kStopAgreed, .step = 4});
  }
  cluster.Finish();
  EXPECT_THAT(cluster.Violations(kGrace), IsEmpty());
}

// A fault that blocks a worker, and the way it is detected.
struct BlockingFault {
  std::string kind;
  std::string point;
  Reason reason;
  int64_t limit_ms;
};

class BlockingFaultTest : public testing::TestWithParam<BlockingFault> {
 protected:
  ScriptedCluster After(int64_t lasts_ms) {
    const BlockingFault& how = GetParam();
    ScriptedCluster cluster;
    RecordFault fault = Lasting(how.kind, lasts_ms);
    fault.point = how.point;
    cluster.Fire(1, fault).Wait(how.limit_ms);
    cluster.GivesUp(0, 1, how.reason, how.limit_ms).Leaves(0, how.reason);
    cluster.GivesUp(2, 0, Reason::kClosed, how.limit_ms)
        .Leaves(2, Reason::kLostWorker);
    cluster.LauncherKills(1);
    return cluster;
  }
};

TEST_P(BlockingFaultTest, ExplainsALoss) {
  EXPECT_THAT(After(GetParam().limit_ms).Violations(kDeaths), IsEmpty());
}

TEST_P(BlockingFaultTest, DoesNotExplainALoss_IfShort) {
  EXPECT_THAT(After(GetParam().limit_ms / 2).Violations(kDeaths),
              Contains("unexplained-loss"));
}

INSTANTIATE_TEST_SUITE_P(
    Ways, BlockingFaultTest,
    testing::Values(
        BlockingFault{"pause", "step.begin", Reason::kSilent, 1'000},
        BlockingFault{"hang", "ctl.heartbeat", Reason::kSilent, 1'000},
        BlockingFault{"partition", "step.begin", Reason::kSilent, 1'000},
        BlockingFault{"hang", "step.begin", Reason::kDeadline, 10'000},
        BlockingFault{"slow", "step.begin", Reason::kDeadline, 10'000}),
    [](const auto& test) {
      return test.param.kind + "_" + std::to_string(test.index);
    });

TEST(ProcessesTest, HangDoesNotExplainMissingHeartbeats) {
  ScriptedCluster cluster;
  cluster.Fire(1, Lasting("hang", 60'000)).Wait(1'000);
  cluster.GivesUp(0, 1, Reason::kSilent, 1'000).Leaves(0, Reason::kLostWorker);
  cluster.GivesUp(2, 0, Reason::kClosed, 1'000).Leaves(2, Reason::kLostWorker);
  cluster.LauncherKills(1);
  EXPECT_THAT(cluster.Violations(kDeaths), ElementsAre("unexplained-loss"));
}

TEST(ProcessesTest, PermanentHangMustBeDetectedInTime) {
  ScriptedCluster cluster;
  RecordFault hang = Lasting("hang", 0);
  cluster.Fire(1, hang).Wait(13'000);
  cluster.GivesUp(0, 1, Reason::kDeadline, 10'000).Leaves(0, Reason::kDeadline);
  cluster.GivesUp(2, 0, Reason::kClosed, 1'000).Leaves(2, Reason::kLostWorker);
  cluster.LauncherKills(1);
  EXPECT_THAT(cluster.Violations(kDetection), ElementsAre("late", "late"));
}

TEST(ProcessesTest, PausesOfTheOthersDoNotCountAsDetectionTime) {
  ScriptedCluster cluster;
  cluster.Fire(1, Crash()).EndsWith(1, 70);
  RecordFault pause = Lasting("pause", 60'000);
  cluster.Fire(0, pause).Fire(2, pause).Wait(60'001);
  OthersLeave(cluster, 1);
  EXPECT_THAT(cluster.Violations(kDetection), IsEmpty());
}

// Pauses worker 1 for two seconds; the chief gives it up after `ms`.
ScriptedCluster PausedWorker(int64_t ms) {
  ScriptedCluster cluster;
  cluster.Fire(1, Lasting("pause", 2'000)).Wait(ms);
  cluster.GivesUp(0, 1, Reason::kSilent, 1'000).Leaves(0, Reason::kLostWorker);
  cluster.GivesUp(2, 0, Reason::kClosed, 1'000).Leaves(2, Reason::kLostWorker);
  cluster.LauncherKills(1);
  return cluster;
}

TEST(ProcessesTest, MissingHeartbeatsMustBeDetectedInTime) {
  // A loss may be detected up to two heartbeat periods after the limit.
  EXPECT_THAT(PausedWorker(1'200).Violations(kDetection), IsEmpty());
  EXPECT_THAT(PausedWorker(1'201).Violations(kDetection), ElementsAre("late"));
}

TEST(ProcessesTest, PausedChiefNeedNotDetectMissingHeartbeats) {
  ScriptedCluster cluster;
  RecordFault pause = Lasting("pause", 1'000);
  pause.id = "pause of the chief";
  cluster.Fire(1, Lasting("pause", 1'900)).Fire(0, pause);
  cluster.Wait(2'000).Step().Finish();
  // The chief runs for only 0.9 s of the pause, and its own pause is too short
  // to count as silence.
  EXPECT_THAT(cluster.Violations(kDetection), IsEmpty());
}

TEST(ProcessesTest, WorkerMustLeaveSoonAfterDetectingALoss) {
  const auto after = [](int64_t ms) {
    ScriptedCluster cluster;
    cluster.Fire(1, Crash()).EndsWith(1, 70);
    cluster.GivesUp(0, 1, Reason::kClosed, 1'000).Wait(ms);
    cluster.Leaves(0, Reason::kLostWorker);
    cluster.GivesUp(2, 0, Reason::kClosed, 1'000)
        .Leaves(2, Reason::kLostWorker);
    return cluster.Violations(kDetection);
  };
  EXPECT_THAT(after(1'200), IsEmpty());
  EXPECT_THAT(after(1'201), ElementsAre("not-acted-on"));
}

TEST(ProcessesTest, RejoiningWorkerMayDetectSeveralLosses) {
  ScriptedCluster cluster;
  cluster.Fire(1, Crash()).EndsWith(1, 70);
  cluster.GivesUp(0, 1, Reason::kClosed, 1'000);
  cluster.Emits(0, {.kind = RecordKind::kLeft, .reason = Reason::kLostWorker});
  cluster.GivesUp(0, 2, Reason::kClosed, 1'000).Wait(5'000);
  cluster.Leaves(0, Reason::kLostWorker);
  cluster.GivesUp(2, 0, Reason::kClosed, 1'000).Leaves(2, Reason::kLostWorker);
  EXPECT_THAT(cluster.Violations(kDetection), IsEmpty());
}

TEST(ProcessesTest, RunWithoutProgressIsAHang) {
  const auto after = [](int64_t ms, bool is_paused) {
    ScriptedCluster cluster;
    for (int i = 0; is_paused && i < ScriptedCluster::kWorkers; ++i) {
      cluster.Fire(i, Lasting("pause", ms));
    }
    cluster.Wait(ms).Step().Finish();
    return cluster.Violations("no-hang");
  };
  EXPECT_THAT(after(3'600'000, false), ElementsAre("standstill"));
  // The longest bound is 30 s. Within 30 s, a pause must end or be detected.
  EXPECT_THAT(after(55'000, false), ElementsAre("standstill"));
  EXPECT_THAT(after(55'000, true), IsEmpty());
  EXPECT_THAT(after(3'600'000, true), ElementsAre("standstill"));
}

TEST(ProcessesTest, RankMustEqualTheAssignedRank) {
  ScriptedCluster cluster;
  cluster.record().incarnations[2].events.front().count = 1;
  EXPECT_THAT(cluster.Finish().Violations(kDeaths), ElementsAre("rank"));
}

// The chief hangs forever, and its launcher kills it after `ms`.
ScriptedCluster ChiefHangs(int64_t ms) {
  ScriptedCluster cluster;
  cluster.Fire(0, Lasting("hang", 0)).Wait(ms);
  cluster.LauncherGivesUp(0, 10'000).LauncherKills(0);
  OthersLeave(cluster, 0);
  return cluster;
}

TEST(ProcessesTest, LauncherMayKillAHangingChief) {
  EXPECT_THAT(ChiefHangs(10'000).Violations(kDeaths), IsEmpty());
  EXPECT_THAT(ChiefHangs(10'000).Violations(kDetection), IsEmpty());
}

TEST(ProcessesTest, LauncherMustNotKillAHealthyChief) {
  ScriptedCluster cluster;
  cluster.Wait(10'000).LauncherGivesUp(0, 10'000).LauncherKills(0);
  OthersLeave(cluster, 0);
  EXPECT_THAT(cluster.Violations(kDeaths), ElementsAre("unexplained-loss"));
}

TEST(ProcessesTest, LauncherMustKillAHangingChiefInTime) {
  EXPECT_THAT(ChiefHangs(11'000).Violations(kDetection), IsEmpty());
  // One finding for the launcher and one for each of the other workers.
  EXPECT_THAT(ChiefHangs(31'000).Violations(kDetection),
              ElementsAre("late", "late", "late"));
}

TEST(ProcessesTest, ChiefMayRefuseAWorkerThatLeftItsGeneration) {
  ScriptedCluster cluster;
  cluster.Fire(2, Crash()).EndsWith(2, 70).Wait(1);
  cluster.GivesUp(1, 2, Reason::kClosed, 1'000);
  cluster.Emits(1, {.kind = RecordKind::kLeft,
                    .generation = 1,
                    .reason = Reason::kLostWorker});
  cluster.GivesUp(1, 0, Reason::kRefused, 0);  // it connects again and again
  cluster.GivesUp(1, 0, Reason::kRefused, 0).Leaves(1, Reason::kLostWorker);
  cluster.GivesUp(0, 2, Reason::kClosed, 1'000).Leaves(0, Reason::kLostWorker);
  EXPECT_THAT(cluster.Violations(kDeaths), IsEmpty());
}

TEST(ProcessesTest, ChiefMustNotRefuseAWorkerWithoutACause) {
  ScriptedCluster cluster;
  cluster.GivesUp(1, 0, Reason::kRefused, 0).Leaves(1, Reason::kLostWorker);
  OthersLeave(cluster, 1);
  EXPECT_THAT(cluster.Violations(kDeaths), Contains("unexplained-loss"));
}

// A worker other than the chief hangs, and only the launcher gives up a worker.
TEST(ProcessesTest, WorkersMustDetectAHangBeforeTheLauncher) {
  const auto after = [](int64_t hangs_ms, int64_t chief_hangs_ms) {
    ScriptedCluster cluster;
    cluster.Fire(1, Lasting("hang", 0));
    if (chief_hangs_ms > 0) cluster.Fire(0, Lasting("hang", chief_hangs_ms));
    cluster.Wait(hangs_ms).LauncherGivesUp(0, 10'000).LauncherKills(0);
    OthersLeave(cluster, 0);
    return cluster.Violations(kDetection);
  };
  EXPECT_THAT(after(10'100, 0), IsEmpty());
  EXPECT_THAT(after(10'101, 0), ElementsAre("not-by-a-worker"));
  EXPECT_THAT(after(10'101, 5'000), IsEmpty());
}

TEST(ProcessesTest, DeviceFailureExplainsTheExitOfItsWorker) {
  ScriptedCluster cluster;
  cluster.Fire(1, {.id = "error", .kind = "gpu_error", .point = "step.begin"});
  cluster.Leaves(1, Reason::kDevice);
  OthersLeave(cluster, 1);
  EXPECT_THAT(cluster.Violations(kDeaths), IsEmpty());
  ScriptedCluster other;
  other.Fire(2, {.id = "error", .kind = "gpu_error", .point = "step.begin"});
  other.Leaves(1, Reason::kDevice);
  OthersLeave(other, 1);
  EXPECT_THAT(other.Violations(kDeaths), ElementsAre("unexplained-exit"));
}

TEST(ProcessesTest, DiskErrorDoesNotExplainALaterExit) {
  const RecordFault error = {
      .id = "error", .kind = "errno", .point = "ckpt.rename"};
  ScriptedCluster at_once;
  at_once.Fire(0, error).Leaves(0, Reason::kDiskError);
  OthersLeave(at_once, 0);
  EXPECT_THAT(at_once.Violations(kDeaths), IsEmpty());
  ScriptedCluster later;
  later.Fire(0, error).Step().Leaves(0, Reason::kDiskError);
  OthersLeave(later, 0);
  EXPECT_THAT(later.Violations(kDeaths), ElementsAre("unexplained-exit"));
}

// An error in a save costs the save, but no worker.
TEST(ProcessesTest, ErrorInASaveDoesNotExplainAnExit) {
  const RecordFault in_save = {
      .id = "error", .kind = "errno", .point = "ckpt.rename", .in_save = true};
  const auto after = [&](const std::function<void(ScriptedCluster&)>& also) {
    ScriptedCluster cluster;
    cluster.Fire(0, in_save);
    also(cluster);
    cluster.Leaves(0, Reason::kDiskError);
    OthersLeave(cluster, 0);
    return cluster.Violations(kDeaths);
  };
  EXPECT_THAT(after([](ScriptedCluster&) {}), ElementsAre("unexplained-exit"));
  EXPECT_THAT(after([](ScriptedCluster& cluster) {
                cluster.Fire(
                    0, {.id = "other", .kind = "errno", .point = "data.read"});
              }),
              IsEmpty());
  EXPECT_THAT(after([](ScriptedCluster& cluster) {
                cluster.Emits(0, {.kind = RecordKind::kFinished, .step = 2});
              }),
              IsEmpty());
  EXPECT_THAT(after([](ScriptedCluster& cluster) {
                cluster.Emits(0, {.kind = RecordKind::kDeleteBegin});
              }),
              IsEmpty());
}

}  // namespace
}  // namespace gauntlet
