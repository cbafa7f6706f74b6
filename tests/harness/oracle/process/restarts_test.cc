// A launcher that restarts its workers, and passes on its notice.
#include "harness/oracle/process/restarts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/oracle/spoiled_run.h"

namespace gauntlet {
namespace {

using K = RecordKind;

class SpoiledRestartTest : public testing::TestWithParam<SpoiledRun> {};
class ExcusedRestartTest : public testing::TestWithParam<ExcusedRun> {};
class LawfulRestartTest : public testing::TestWithParam<LawfulRun> {};

TEST_P(SpoiledRestartTest, IsFound) { ExpectFinding(GetParam()); }
TEST_P(ExcusedRestartTest, IsFoundWithoutTheExcuseOnly) {
  ExpectExcused(GetParam());
}
TEST_P(LawfulRestartTest, HasNoFinding) { ExpectLawful(GetParam()); }

const Emitter kLauncher = LauncherProcess(1);

RecordEvent& Restarting(ScriptedRun& run, size_t nth = 0) {
  return run.events.At(kLauncher, K::kRestarting, nth);
}

void PauseForLonger(ScriptedRun& run) { Restarting(run).limit_ns = 90 * kTick; }

void GiveUp(ScriptedRun& run) {
  run.events.InsertBefore(
      kLauncher, K::kLauncherEnd, 0, kLauncher,
      {.kind = K::kGaveUp, .reason = RecordReason::kRestartsUsedUp});
}

void AskToStop(ScriptedRun& run, int worker) {
  run.events.InsertAfter(
      kLauncher, K::kNotice, 0, kLauncher,
      {.kind = K::kAskedToStop, .about = worker, .incarnation = 1});
}

// Sends the launcher a notice while both workers run.
void NoticeLauncher(ScriptedRun& run) {
  run.events.InsertBefore(kChief, K::kWorkerExited, 0, kLauncher,
                          {.kind = K::kNotice});
}

INSTANTIATE_TEST_SUITE_P(
    Restarts, SpoiledRestartTest,
    testing::Values(
        SpoiledRun{"MoreRestartsThanAllowed", RecoveredRun, "restarts/budget",
                   [](ScriptedRun& run) { run.facts.setup.max_restarts = 0; }},
        SpoiledRun{"RestartIsCountedTwice", RecoveredRun, "restarts/budget",
                   [](ScriptedRun& run) { Restarting(run).count = 2; }},
        SpoiledRun{"RestartIsNotCounted", TwiceCrashedRun, "restarts/budget",
                   [](ScriptedRun& run) { Restarting(run, 1).count = 1; }},
        SpoiledRun{"PauseIsTooShort", RecoveredRun, "restarts/pause",
                   [](ScriptedRun& run) {
                     run.facts.setup.first_restart_pause_ns = 2 * kTick;
                   }},
        SpoiledRun{"WorkerStartsWithinThePause", RecoveredRun, "restarts/pause",
                   PauseForLonger},
        SpoiledRun{"RestartsAfterANotice", RecoveredRun,
                   "restarts/told-to-stop",
                   [](ScriptedRun& run) {
                     run.events.InsertBefore(kLauncher, K::kRestarting, 0,
                                             kLauncher, {.kind = K::kNotice});
                   }},
        SpoiledRun{"LauncherGivesUpEarly", UndisturbedRun,
                   "restarts/gave-up-early", GiveUp},
        SpoiledRun{"NoticeIsForwardedToNoWorker", PreemptedRun,
                   "restarts/not-passed-on", NoticeLauncher},
        SpoiledRun{"NoticeIsForwardedToOneWorker", PreemptedRun,
                   "restarts/not-passed-on",
                   [](ScriptedRun& run) {
                     NoticeLauncher(run);
                     AskToStop(run, 0);
                   }}),
    NameOfCase<SpoiledRun>);

INSTANTIATE_TEST_SUITE_P(
    Restarts, ExcusedRestartTest,
    testing::Values(
        ExcusedRun{"WorkerStartsAfterThePause", RecoveredRun, "restarts/pause",
                   PauseForLonger,
                   [](ScriptedRun& run) {
                     run.events.Delay(90 * kTick, kLauncher, K::kStarted, 2);
                   }},
        ExcusedRun{"PauseCountsFromTheLoss_IfWorkersRejoin", RejoinedRun,
                   "restarts/pause",
                   [](ScriptedRun& run) {
                     PauseForLonger(run);
                     run.facts.setup.rejoins = false;
                   },
                   [](ScriptedRun& run) { run.facts.setup.rejoins = true; }},
        ExcusedRun{"RestartBudgetIsSpent", UndisturbedRun,
                   "restarts/gave-up-early", GiveUp,
                   [](ScriptedRun& run) { run.facts.setup.max_restarts = 0; }},
        ExcusedRun{"NoProgress", UndisturbedRun, "restarts/gave-up-early",
                   GiveUp,
                   [](ScriptedRun& run) {
                     run.events.At(kLauncher, K::kGaveUp).reason =
                         RecordReason::kNoProgress;
                   }}),
    NameOfCase<ExcusedRun>);

INSTANTIATE_TEST_SUITE_P(
    Restarts, LawfulRestartTest,
    testing::Values(
        LawfulRun{"AnotherLauncherStarts_AfterANotice", PreemptedRun,
                  [](ScriptedRun& run) {
                    NoticeLauncher(run);
                    AskToStop(run, 1);
                    AskToStop(run, 0);
                  }},
        LawfulRun{"AsManyRestartsAsAllowed", RecoveredRun,
                  [](ScriptedRun& run) { run.facts.setup.max_restarts = 1; }},
        LawfulRun{"PauseIsAsLongAsConfigured", RecoveredRun,
                  [](ScriptedRun& run) {
                    run.facts.setup.first_restart_pause_ns = kTick;
                  }},
        LawfulRun{"WorkerStartsWithinTheTimestampSlack", RecoveredRun,
                  [](ScriptedRun& run) {
                    Restarting(run).limit_ns = kTick + kStampSlackNs;
                  }},
        LawfulRun{"NoticeIsNotForwardedToAnExitedWorker", PreemptedRun,
                  [](ScriptedRun& run) {
                    run.events.InsertBefore(kOther, K::kWorkerExited, 0,
                                            kLauncher, {.kind = K::kNotice});
                    AskToStop(run, 1);
                  }},
        LawfulRun{"EachLauncherCountsItsOwnRestarts", PreemptedRun,
                  [](ScriptedRun& run) { run.facts.setup.max_restarts = 0; }}),
    NameOfCase<LawfulRun>);

}  // namespace
}  // namespace gauntlet
