// Ends of a run, and findings about planned faults that did not fire.
#include "harness/oracle/specification.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/oracle/judge.h"
#include "harness/record/invariants.h"
#include "tests/harness/oracle/spoiled_run.h"

namespace gauntlet {
namespace {

using K = RecordKind;
using testing::Contains;
using testing::Not;

class SpoiledSpecificationTest : public testing::TestWithParam<SpoiledRun> {};
class ExcusedSpecificationTest : public testing::TestWithParam<ExcusedRun> {};

TEST_P(SpoiledSpecificationTest, IsFound) { ExpectFinding(GetParam()); }
TEST_P(ExcusedSpecificationTest, IsFoundWithoutTheExcuseOnly) {
  ExpectExcused(GetParam());
}

void KillLauncher(ScriptedRun& run) { run.facts.launchers[0].exit_code = 139; }

INSTANTIATE_TEST_SUITE_P(
    Ends, SpoiledSpecificationTest,
    testing::Values(
        SpoiledRun{
            "RunHangs", UndisturbedRun, "no-hang/hung",
            [](ScriptedRun& run) { run.facts.ending = RunEnding::kHung; }},
        SpoiledRun{
            "RunTimesOut", UndisturbedRun, "no-hang/timed-out",
            [](ScriptedRun& run) { run.facts.ending = RunEnding::kTimedOut; }},
        SpoiledRun{"ProcessOutlivesTheRun", UndisturbedRun,
                   "no-orphans/process",
                   [](ScriptedRun& run) {
                     run.facts.left.processes = {"worker 1 (4711)"};
                   }},
        SpoiledRun{"LauncherIsKilled", UndisturbedRun,
                   "no-spontaneous-exit/launcher", KillLauncher},
        SpoiledRun{
            "LauncherIsKilledBySignal", UndisturbedRun,
            "no-spontaneous-exit/launcher",
            [](ScriptedRun& run) { run.facts.launchers[0].exit_code = -9; }},
        SpoiledRun{
            "WorkerDiesWithoutACause", RecoveredRun,
            "no-spontaneous-exit/unexplained-death",
            [](ScriptedRun& run) { run.facts.faults[0].kind = "errno"; }},
        SpoiledRun{
            "WorkerDiesOfAnotherFault", RejoinedRun,
            "no-spontaneous-exit/unexplained-death",
            [](ScriptedRun& run) { run.facts.faults[0].kind = "gpu_error"; }},
        SpoiledRun{"LossIsDetectedLate", RecoveredRun, "detection/late",
                   [](ScriptedRun& run) {
                     run.facts.expect.detected_in_max_ns = kTick;
                   }},
        SpoiledRun{"LossIsDetectedLate_DuringRendezvous", TwiceCrashedRun,
                   "detection/late",
                   [](ScriptedRun& run) {
                     run.events.Delay(50 * kTick, kNextChief, K::kWorkerLost);
                     run.facts.expect.detected_in_max_ns = 30 * kTick;
                   }},
        SpoiledRun{"WorkerWasNeverStarted", RecoveredRun,
                   "no-spontaneous-exit/not-started",
                   [](ScriptedRun& run) {
                     run.events.Remove(LauncherProcess(1), K::kStarted, 3);
                   }},
        SpoiledRun{"FaultNeverFires", RecoveredRun, "fault-fired/never-fired",
                   [](ScriptedRun& run) {
                     run.events.At(kOther, K::kFaultFired).detail = "x";
                   }},
        SpoiledRun{"WorkerExitsInOrderAfterACrash", RecoveredRun,
                   "fault-fired/no-effect",
                   [](ScriptedRun& run) {
                     run.events.InsertAfter(kOther, K::kFaultFired, 0, kOther,
                                            {.kind = K::kWorkerExited});
                   }},
        SpoiledRun{"NoticeComesAfterTheEnd", UndisturbedRun,
                   "fault-fired/unseen",
                   [](ScriptedRun& run) {
                     FireBefore(run, kChief, K::kWorkerExited, 0,
                                {.id = "notice",
                                 .kind = "preempt",
                                 .grace_ns = 1'000 * kTick});
                   }},
        SpoiledRun{"NoticeIsNotReceived", PreemptedRun, "fault-fired/unseen",
                   [](ScriptedRun& run) {
                     run.events.Remove(kChief, K::kNotice);
                     run.events.Remove(kChief, K::kWorkerExited);
                   }}),
    NameOfCase<SpoiledRun>);

// Returns a run whose launcher receives a notice in the pause before a restart,
// so that it does not restart.
ScriptedRun RunStoppedInAPause() {
  ScriptedRun run = RecoveredRun();
  run.events.CutAfter(LauncherProcess(1), K::kRestarting);
  run.facts.left = {};
  LauncherRun& launcher = run.facts.launchers[0];
  launcher = {.exit_code = 143};
  run.events.Append(LauncherProcess(1), {.kind = K::kNotice});
  run.events.Append(LauncherProcess(1),
                    {.kind = K::kLauncherEnd, .count = 143});
  return run;
}

ScriptedRun PowerCutRun() { return CutRun("ext4"); }

constexpr int64_t kKilled = 137;

RecordEvent Killed(int worker, int incarnation) {
  return {.kind = K::kProcessEnded,
          .count = kKilled,
          .about = worker,
          .incarnation = incarnation,
          .reason = RecordReason::kSignal};
}

// Returns a run whose launcher is killed when worker 1 begins step 4. Its
// workers end while the next launcher waits for them.
ScriptedRun KilledLauncherRun() {
  ScriptedRun run;
  run.facts.setup.orphans_end_ns = 20 * kTick;
  run.LaunchAll();
  run.Claim();
  run.Initialize();
  run.TrainTo(3);
  run.Fire(1, {.id = "kill",
               .kind = "kill_launcher",
               .point = "step.begin",
               .summary = "kill the launcher"});
  run.events.Append(kMachine, Killed(kLauncherWorker, 0));
  run.facts.launchers.back().exit_code = kKilled;
  run.Launch();
  run.events.Append(kMachine, Killed(0, 1));
  run.events.Append(kMachine, Killed(1, 1));
  run.StartAll();
  run.Claim(NameOfSave(2, 1));
  run.Resume(NameOfSave(2, 1), {.step = 2});
  run.TrainTo(kLastStep);
  run.Finish();
  run.facts.expect.outcome = Outcome::kRecovers;
  return run;
}

// As KilledLauncherRun, but the next launcher gives up.
ScriptedRun NotTakenUpRun() {
  ScriptedRun run = KilledLauncherRun();
  run.events.CutAfter(kMachine, K::kProcessEnded, 2);
  run.events.RemoveIf([](const EmittedEvent& emitted) {
    return emitted.by == LauncherProcess(2) &&
           emitted.event.kind != K::kLauncherBegin;
  });
  run.facts.launchers[1] = {.exit_code = 75, .first_incarnation = 2};
  return run;
}

INSTANTIATE_TEST_SUITE_P(
    Orphans, SpoiledSpecificationTest,
    testing::Values(SpoiledRun{"WorkerOutlivesItsLauncher", KilledLauncherRun,
                               "no-orphans/outlives-launcher",
                               [](ScriptedRun& run) {
                                 run.events.Delay(21 * kTick, kMachine,
                                                  K::kProcessEnded, 1);
                               }},
                    SpoiledRun{"LauncherIsKilledWithoutACause",
                               KilledLauncherRun,
                               "no-spontaneous-exit/launcher",
                               [](ScriptedRun& run) {
                                 run.facts.faults[0].kind = "errno";
                               }}),
    NameOfCase<SpoiledRun>);

TEST(SpecificationTest, LauncherResumesTheJobAfterItsOrphansEnd) {
  EXPECT_THAT(FindingsOf(KilledLauncherRun()), testing::IsEmpty());
  ScriptedRun run = NotTakenUpRun();
  run.events.InsertAfter(LauncherProcess(2), K::kLauncherBegin, 0,
                         LauncherProcess(2),
                         {.kind = K::kLauncherEnd, .count = 75});
  EXPECT_THAT(FindingsOf(run), Contains("restarts/not-taken-up"));
  // Once the workers have ended, the launcher need not wait for them.
  ScriptedRun later = NotTakenUpRun();
  later.events.Append(LauncherProcess(2),
                      {.kind = K::kLauncherEnd, .count = 75});
  later.events.MoveAfter(LauncherProcess(2), K::kLauncherBegin, kMachine,
                         K::kProcessEnded, 2);
  EXPECT_THAT(FindingsOf(later), Not(Contains("restarts/not-taken-up")));
}

INSTANTIATE_TEST_SUITE_P(
    Accounts, SpoiledSpecificationTest,
    testing::Values(
        SpoiledRun{"ExitCodeDiffersFromTheEvent", UndisturbedRun,
                   "history-consistent/launcher",
                   [](ScriptedRun& run) {
                     run.events.At(LauncherProcess(1), K::kLauncherEnd).count =
                         75;
                   }},
        SpoiledRun{"MoreRestartsAreCountedThanHappened", RecoveredRun,
                   "history-consistent/launcher",
                   [](ScriptedRun& run) { ++run.facts.launchers[0].restarts; }},
        SpoiledRun{
            "RestartIsCounted_ThoughANoticeCameInItsPause", RunStoppedInAPause,
            "history-consistent/launcher",
            [](ScriptedRun& run) { run.facts.launchers[0].restarts = 1; }},
        SpoiledRun{"ResultWasNeverReceived", UndisturbedRun,
                   "history-consistent/launcher",
                   [](ScriptedRun& run) {
                     run.events.Remove(LauncherProcess(1), K::kResultReceived);
                   }},
        SpoiledRun{
            "ReceivedResultIsMissing", UndisturbedRun,
            "history-consistent/launcher",
            [](ScriptedRun& run) { run.facts.launchers[0].result.reset(); }},
        SpoiledRun{
            "KilledLauncherHasAnotherExitCode", PowerCutRun,
            "history-consistent/launcher",
            [](ScriptedRun& run) { run.facts.launchers[0].exit_code = 0; }},
        SpoiledRun{
            "KilledLauncherCountsRestarts", PowerCutRun,
            "history-consistent/launcher",
            [](ScriptedRun& run) { run.facts.launchers[0].restarts = 1; }}),
    NameOfCase<SpoiledRun>);

INSTANTIATE_TEST_SUITE_P(
    Ends, ExcusedSpecificationTest,
    testing::Values(
        ExcusedRun{"LauncherDiesInAPowerLoss", UndisturbedRun,
                   "no-spontaneous-exit/launcher", KillLauncher,
                   [](ScriptedRun& run) {
                     run.events.Append(kMachine, {.kind = K::kPowerCut});
                   }},
        ExcusedRun{
            "LauncherReceivesSigterm", UndisturbedRun,
            "no-spontaneous-exit/launcher", KillLauncher,
            [](ScriptedRun& run) { run.facts.launchers[0].exit_code = 143; }},
        ExcusedRun{
            "LauncherReceivesSigint", UndisturbedRun,
            "no-spontaneous-exit/launcher", KillLauncher,
            [](ScriptedRun& run) { run.facts.launchers[0].exit_code = 130; }},
        ExcusedRun{"NoticeHasNoGracePeriod", PreemptedRun, "fault-fired/unseen",
                   [](ScriptedRun& run) {
                     run.events.Remove(kChief, K::kNotice);
                     run.events.Remove(kChief, K::kWorkerExited);
                   },
                   [](ScriptedRun& run) { run.facts.faults[0].grace_ns = 0; }},
        ExcusedRun{
            "ProcessesAreNotListed", UndisturbedRun, "no-orphans/process",
            [](ScriptedRun& run) {
              run.facts.left.processes = {"worker 1 (4711)"};
            },
            [](ScriptedRun& run) { run.facts.left.processes_listed = false; }}),
    NameOfCase<ExcusedRun>);

TEST(SpecificationTest, ReportsAllInvariantsInOrder) {
  const auto infos = AllInvariants();
  const std::vector<InvariantReport> reports = Checks().Reports();
  ASSERT_EQ(reports.size(), infos.size());
  for (size_t i = 0; i < reports.size(); ++i) {
    EXPECT_EQ(reports[i].invariant, infos[i].name);
  }
}

TEST(SpecificationTest, RecoveredRunHasSomethingToCheck) {
  for (const InvariantReport& report :
       Judge(RecoveredRun().record()).invariants) {
    const bool is_rare = report.invariant == "clean-refusal" ||
                         report.invariant == "grace" ||
                         report.invariant == "checkpoints-deleted" ||
                         report.invariant == "outputs";
    EXPECT_EQ(report.instances > 0, !is_rare) << report.invariant;
  }
}

TEST(SpecificationTest, UnexplainedDeathMentionsOutOfMemory) {
  ScriptedRun run = RecoveredRun();
  run.facts.faults[0].kind = "errno";
  const auto message = [&run] {
    for (const InvariantReport& report : Judge(run.record()).invariants) {
      if (report.invariant == "no-spontaneous-exit") {
        return report.findings.at(0).message;
      }
    }
    return std::string();
  };
  const std::string before = message();
  run.facts.oom_kills = 1;
  EXPECT_EQ(message(), before +
                           "; meanwhile memory ran out: the kernel killed 1 "
                           "process of this machine");
}

TEST(CheckTest, KeepsTwentyFindingsAndCountsTheRest) {
  Check check(Invariant::kStore);
  for (int i = 0; i < 30; ++i) check.Fail("x", "y");
  EXPECT_EQ(check.report().violations, 30u);
  EXPECT_EQ(check.report().findings.size(), 20u);
}

}  // namespace
}  // namespace gauntlet
