// Preemption notices: workers agree on a step, save it, and exit within the
// grace period.
#include "harness/oracle/process/notices.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/oracle/judge.h"
#include "tests/harness/oracle/spoiled_run.h"

namespace gauntlet {
namespace {

using K = RecordKind;

class SpoiledNoticeTest : public testing::TestWithParam<SpoiledRun> {};
class ExcusedNoticeTest : public testing::TestWithParam<ExcusedRun> {};
class LawfulNoticeTest : public testing::TestWithParam<LawfulRun> {};

TEST_P(SpoiledNoticeTest, IsFound) { ExpectFinding(GetParam()); }
TEST_P(ExcusedNoticeTest, IsFoundWithoutTheExcuseOnly) {
  ExpectExcused(GetParam());
}
TEST_P(LawfulNoticeTest, HasNoFinding) { ExpectLawful(GetParam()); }

// Returns a notice that a worker of the generation detects after the step.
RecordEvent NoticeAt(uint64_t step, uint64_t generation = 1) {
  return {.kind = K::kNotice, .generation = generation, .step = step};
}

// Adds a notice that worker 1 detects in step 4, and ignores. Only steps 5 and
// 6 may follow it.
void IgnoreNotice(ScriptedRun& run) {
  run.events.InsertAfter(kOther, K::kStep, 2, kOther, NoticeAt(3));
}

void FailLastSave(ScriptedRun& run) {
  run.events.At(kChief, K::kSaveAcknowledged, 2).kind = K::kSaveFailed;
}

void NeverAgree(ScriptedRun& run) {
  run.events.Remove(kChief, K::kStopAgreed);
  run.events.Remove(kOther, K::kStopAgreed);
}

// Removes the exit event of the chief, and makes its grace period long.
void DieInGrace(ScriptedRun& run) {
  run.events.Remove(kChief, K::kWorkerExited);
  run.facts.faults[0].grace_ns = 1000 * kTick;
}

// Fires the fault in the process of `who` just after the notice of the chief.
void FireAfterNotice(ScriptedRun& run, const Emitter& who, RecordFault fault) {
  run.events.InsertAfter(kChief, K::kFaultFired, 0, who,
                         {.kind = K::kFaultFired, .detail = fault.id});
  run.facts.faults.push_back(std::move(fault));
}

// Notifies worker 1 as well as worker 0.
void NoticeBoth(ScriptedRun& run) {
  RecordFault other = run.facts.faults[0];
  other.id = "other";
  FireBefore(run, kOther, K::kStep, 4, other);
  run.events.InsertBefore(kOther, K::kStep, 4, kOther, NoticeAt(4));
}

// Returns the time of the first chief's first event of the kind.
int64_t TimeOf(const ScriptedRun& run, RecordKind kind) {
  const Record record = run.record();
  return std::ranges::find(record.incarnations.at(0).events, kind,
                           &RecordEvent::kind)
      ->t_ns;
}

void NeverSeeNotice(ScriptedRun& run) { run.events.Remove(kChief, K::kNotice); }

// Sends worker 1 a signal in step 4. By step 6, the worker has not detected it.
void MissSignal(ScriptedRun& run) {
  FireBefore(run, kOther, K::kStep, 3,
             {.id = "notice", .kind = "preempt", .grace_ns = 1'000 * kTick});
}

void AskToStop(ScriptedRun& run, int worker, size_t step) {
  const Emitter by = WorkerProcess(worker, 1);
  run.events.InsertBefore(
      by, K::kStep, step - 1, LauncherProcess(1),
      {.kind = K::kAskedToStop, .about = worker, .incarnation = 1});
}

INSTANTIATE_TEST_SUITE_P(
    Notices, SpoiledNoticeTest,
    testing::Values(
        SpoiledRun{"NoticeIsIgnored", UndisturbedRun, "grace/unheeded",
                   IgnoreNotice},
        SpoiledRun{
            "NoticeIsIgnored_AfterARejoin", RejoinedRun, "grace/unheeded",
            [](ScriptedRun& run) {
              run.facts.setup.steps_per_execution = 1;
              run.events.InsertAfter(kChief, K::kResumedFromMemory, 0, kChief,
                                     NoticeAt(6, 2));
              // Adds two more steps than the run has.
              for (const uint64_t step : {9, 10}) {
                RecordEvent event = run.events.At(kChief, K::kStep, 7);
                event.step = step;
                run.events.InsertBefore(kChief, K::kFinished, 0, kChief, event);
              }
            }},
        SpoiledRun{"StopsLate", PreemptedRun, "grace/late",
                   [](ScriptedRun& run) {
                     run.events.Delay(50 * kTick, kChief, K::kStopAgreed);
                   }},
        SpoiledRun{"ExitsLate", PreemptedRun, "grace/late",
                   [](ScriptedRun& run) {
                     run.events.Delay(50 * kTick, kChief, K::kWorkerExited);
                   }},
        SpoiledRun{"StopsWithoutANotice", PreemptedRun, "grace/no-notice",
                   NeverSeeNotice},
        SpoiledRun{"StopsWithoutANotice_AndWithoutAPlannedStop", PreemptedRun,
                   "grace/no-notice",
                   [](ScriptedRun& run) {
                     NeverSeeNotice(run);
                     run.facts.setup.launches = {{.epochs = kEpochs}};
                   }},
        SpoiledRun{"ExitsForALaterStart_WithoutTheLastSave", PreemptedRun,
                   "grace/not-saved",
                   [](ScriptedRun& run) {
                     FailLastSave(run);
                     run.events.At(kChief, K::kWorkerExited).count = 74;
                   }},
        SpoiledRun{"StopsForANoticeOfAnotherGeneration", RejoinedRun,
                   "grace/no-notice",
                   [](ScriptedRun& run) {
                     run.events.InsertAfter(kOther, K::kStep, 4, kOther,
                                            NoticeAt(5));
                     run.events.InsertAfter(kNextOther, K::kStep, 0, kNextOther,
                                            {.kind = K::kStopAgreed,
                                             .generation = 2,
                                             .step = 7,
                                             .epoch = 1});
                   }},
        SpoiledRun{"StopsWithoutAnAgreement", PreemptedRun,
                   "grace/no-agreement", NeverAgree},
        SpoiledRun{"TrainedWorkerExitsAsIfTheJobCouldNotStart", PreemptedRun,
                   "grace/no-agreement",
                   [](ScriptedRun& run) {
                     NeverAgree(run);
                     run.events.At(kChief, K::kWorkerExited).count = 7;
                   }},
        SpoiledRun{"StopsWithoutASave", PreemptedRun, "grace/not-saved",
                   FailLastSave},
        SpoiledRun{"SavesAnotherStepThanAgreed", PreemptedRun,
                   "grace/not-saved",
                   [](ScriptedRun& run) {
                     run.events.At(kChief, K::kSaveAcknowledged, 2).step = 4;
                   }},
        SpoiledRun{"TrainsAfterTheGracePeriod", UndisturbedRun, "grace/overrun",
                   [](ScriptedRun& run) {
                     run.facts.setup.notice_grace_ns = 1;
                     IgnoreNotice(run);
                   }},
        SpoiledRun{"DiesWithinTheGracePeriod", PreemptedRun, "grace/killed",
                   DieInGrace},
        SpoiledRun{"DiesBeforeAKillIsDue", PreemptedRun, "grace/killed",
                   [](ScriptedRun& run) {
                     DieInGrace(run);
                     FireAfterNotice(run, kChief,
                                     {.id = "k",
                                      .kind = "kill",
                                      .latency_ns = 900 * kTick});
                   }}),
    NameOfCase<SpoiledRun>);

INSTANTIATE_TEST_SUITE_P(
    Notices, ExcusedNoticeTest,
    testing::Values(
        ExcusedRun{"GracePeriodAllowsMoreSteps", UndisturbedRun,
                   "grace/unheeded", IgnoreNotice,
                   [](ScriptedRun& run) {
                     run.facts.setup.notice_grace_ns = 30 * kTick;
                   }},
        ExcusedRun{
            "TrainsToTheEndOfAnExecution", UndisturbedRun, "grace/unheeded",
            IgnoreNotice,
            [](ScriptedRun& run) { run.facts.setup.steps_per_execution = 3; }},
        ExcusedRun{"AllWorkersAgreeToStop", UndisturbedRun, "grace/unheeded",
                   IgnoreNotice,
                   [](ScriptedRun& run) {
                     run.events.InsertAfter(kOther, K::kStep, 4, kOther,
                                            {.kind = K::kStopAgreed,
                                             .generation = 1,
                                             .step = 5,
                                             .epoch = 1});
                   }},
        ExcusedRun{"WorkerHasLostTheOthers", UndisturbedRun, "grace/unheeded",
                   IgnoreNotice,
                   [](ScriptedRun& run) {
                     run.events.InsertAfter(
                         kOther, K::kStep, 4, kOther,
                         {.kind = K::kLeaving, .generation = 1});
                   }},
        ExcusedRun{"WorkerHasExited", UndisturbedRun, "grace/unheeded",
                   IgnoreNotice,
                   [](ScriptedRun& run) {
                     run.events.InsertAfter(
                         kOther, K::kStep, 4, LauncherProcess(1),
                         {.kind = K::kExited, .about = 1, .incarnation = 1});
                   }},
        ExcusedRun{"GenerationNumberIsReused", UndisturbedRun, "grace/unheeded",
                   IgnoreNotice,
                   [](ScriptedRun& run) {
                     run.events.InsertAfter(
                         kOther, K::kStep, 4, kNextChief,
                         {.kind = K::kGeneration, .generation = 1});
                   }},
        ExcusedRun{"WorkerIsSuperseded", UndisturbedRun, "grace/unheeded",
                   IgnoreNotice,
                   [](ScriptedRun& run) {
                     run.events.InsertAfter(
                         kOther, K::kStep, 4, kOther,
                         {.kind = K::kFencedOut, .generation = 1});
                   }},
        ExcusedRun{"StopIsPlanned", PreemptedRun, "grace/no-notice",
                   NeverSeeNotice,
                   [](ScriptedRun& run) {
                     run.facts.setup.launches = {
                         {.epochs = kEpochs, .stop_at_step = 5}};
                   }},
        ExcusedRun{"NoticeIsPolled", UndisturbedRun, "grace/not-seen",
                   MissSignal,
                   [](ScriptedRun& run) { run.facts.faults[0].polled = true; }},
        ExcusedRun{
            "NoticeComesWithinAnExecution", UndisturbedRun, "grace/not-seen",
            MissSignal,
            [](ScriptedRun& run) { run.facts.setup.steps_per_execution = 3; }},
        ExcusedRun{"NoticeIsReceivedInTime", UndisturbedRun, "grace/not-seen",
                   MissSignal,
                   [](ScriptedRun& run) {
                     run.events.InsertAfter(kOther, K::kStep, 4, kOther,
                                            NoticeAt(5));
                   }},
        ExcusedRun{
            "LauncherCannotReachTheWorker", UndisturbedRun, "grace/not-seen",
            [](ScriptedRun& run) { AskToStop(run, 1, 4); },
            [](ScriptedRun& run) {
              run.events.At(LauncherProcess(1), K::kAskedToStop, 0).reason =
                  RecordReason::kUnreachable;
            }},
        ExcusedRun{"AllWorkersStopForAnotherNotice", UndisturbedRun,
                   "grace/not-seen", MissSignal,
                   [](ScriptedRun& run) {
                     run.events.InsertAfter(kOther, K::kStep, 4, kOther,
                                            {.kind = K::kStopAgreed,
                                             .generation = 1,
                                             .step = 5,
                                             .epoch = 1});
                   }},
        ExcusedRun{"NoticeWasReceivedBeforeTheLaunchersRequest", UndisturbedRun,
                   "grace/not-seen",
                   [](ScriptedRun& run) {
                     run.facts.setup.notice_grace_ns = 30 * kTick;
                     AskToStop(run, 1, 4);
                   },
                   [](ScriptedRun& run) {
                     run.events.InsertAfter(kOther, K::kStep, 1, kOther,
                                            NoticeAt(2));
                   }},
        ExcusedRun{
            "RequestingWorkerHasLeft", UndisturbedRun, "grace/no-notice",
            [](ScriptedRun& run) {
              run.events.InsertAfter(kOther, K::kStep, 5, kChief, NoticeAt(6));
              run.events.InsertAfter(kChief, K::kNotice, 0, kChief,
                                     {.kind = K::kLeaving, .generation = 1});
              run.events.InsertAfter(kOther, K::kStep, 5, kOther,
                                     {.kind = K::kStopAgreed,
                                      .generation = 1,
                                      .step = 6,
                                      .epoch = 1});
              run.events.MoveAfter(kOther, K::kStopAgreed, kChief, K::kLeaving);
            },
            [](ScriptedRun& run) {
              run.events.MoveAfter(kChief, K::kNotice, kChief, K::kStep, 4);
            }},
        ExcusedRun{"SaveIsGivenUpAfterAllTries", PreemptedRun,
                   "grace/not-saved", FailLastSave,
                   [](ScriptedRun& run) {
                     RecordEvent& end = run.events.At(kChief, K::kWorkerExited);
                     end.count = 74;
                     end.step = 5;
                   }},
        ExcusedRun{"AnotherFaultKillsTheWorker", PreemptedRun, "grace/killed",
                   DieInGrace,
                   [](ScriptedRun& run) {
                     FireAfterNotice(run, kChief, {.id = "c", .kind = "crash"});
                   }},
        ExcusedRun{"HostOfTheWorkerLosesPower", PreemptedRun, "grace/killed",
                   DieInGrace,
                   [](ScriptedRun& run) {
                     FireAfterNotice(run, kChief,
                                     {.id = "p",
                                      .kind = "power_loss",
                                      .of_one_host = true});
                   }},
        ExcusedRun{
            "MachineLosesPower", PreemptedRun, "grace/killed", DieInGrace,
            [](ScriptedRun& run) {
              FireAfterNotice(run, kOther, {.id = "p", .kind = "power_loss"});
            }},
        ExcusedRun{"LauncherDiesAndReportsNoEnd", PreemptedRun, "grace/killed",
                   [](ScriptedRun& run) {
                     DieInGrace(run);
                     run.events.Remove(LauncherProcess(1), K::kExited);
                     run.events.Remove(LauncherProcess(1), K::kExited);
                   },
                   [](ScriptedRun& run) {
                     FireAfterNotice(run, kOther,
                                     {.id = "l", .kind = "kill_launcher"});
                   }},
        ExcusedRun{"LauncherKillsAHungWorker", PreemptedRun, "grace/killed",
                   DieInGrace,
                   [](ScriptedRun& run) {
                     FireAfterNotice(run, kChief, {.id = "h", .kind = "hang"});
                     run.events.InsertBefore(
                         LauncherProcess(1), K::kExited, 0, LauncherProcess(1),
                         {.kind = K::kKillSent, .about = 0, .incarnation = 1});
                   }},
        ExcusedRun{"TrainingHasFinished", PreemptedRun, "grace/no-agreement",
                   NeverAgree,
                   [](ScriptedRun& run) {
                     run.events.InsertBefore(
                         kChief, K::kWorkerExited, 0, kChief,
                         {.kind = K::kFinished, .generation = 1});
                   }}),
    NameOfCase<ExcusedRun>);

INSTANTIATE_TEST_SUITE_P(
    Notices, LawfulNoticeTest,
    testing::Values(LawfulRun{"TwoMoreStepsAreTrained", UndisturbedRun,
                              [](ScriptedRun& run) {
                                run.events.InsertAfter(kOther, K::kStep, 5,
                                                       kOther, NoticeAt(6));
                              }},
                    LawfulRun{"BothWorkersReceiveANotice", PreemptedRun,
                              NoticeBoth},
                    // Steps 7 and 8 may follow in the next generation.
                    LawfulRun{"LauncherRequestsAStopBeforeARejoin", RejoinedRun,
                              [](ScriptedRun& run) { AskToStop(run, 0, 5); }},
                    LawfulRun{"ExitsAtTheEndOfTheGracePeriod", PreemptedRun,
                              [](ScriptedRun& run) {
                                run.facts.faults[0].grace_ns =
                                    TimeOf(run, K::kWorkerExited) -
                                    TimeOf(run, K::kFaultFired);
                              }},
                    LawfulRun{"NoticeWithoutAGracePeriodIsAKill", RecoveredRun,
                              [](ScriptedRun& run) {
                                run.facts.faults[0].kind = "preempt";
                              }},
                    // The steps that may follow an earlier notice count from
                    // the rejoin on.
                    LawfulRun{"NoticePrecedesARejoin", RejoinedRun,
                              [](ScriptedRun& run) {
                                run.events.InsertAfter(kChief, K::kStep, 3,
                                                       kChief, NoticeAt(4));
                              }}),
    NameOfCase<LawfulRun>);

// Two generations have the number 1. The step at which the second agreed to
// stop is not compared with the saves of the first.
TEST(NoticesTest, ReusedGenerationNumberIsAnotherStop) {
  ScriptedRun run = PreemptedRun();
  LoseSyncedDataBefore(run, kNextChief, K::kClaimBegin);
  Renumber(run, 2, 1);
  const RecordFault again = {
      .id = "again", .kind = "preempt", .grace_ns = 1'000 * kTick};
  FireBefore(run, kNextChief, K::kStep, 0, again);
  run.events.InsertAfter(
      kNextChief, K::kStep, 0, kNextChief,
      {.kind = K::kStopAgreed, .generation = 1, .step = 6, .epoch = 1});
  EndAfter(run, kNextChief, K::kSaveAcknowledged);
  run.events.Append(kNextChief, {.kind = K::kWorkerExited, .count = 143});
  ASSERT_THAT(FindingsOf(run),
              testing::Not(testing::Contains("grace/not-saved")));
  run.events.Remove(kNextChief, K::kSaveAcknowledged);
  EXPECT_THAT(FindingsOf(run), testing::Contains("grace/not-saved"));
}

// A notice comes to a chief that has not resumed yet.
TEST(NoticesTest, NoStopIsExpectedOfAJobThatCannotStart) {
  for (const int64_t code : {1, 2, 7, 8}) {
    ScriptedRun run = RefusedRun();
    FireBefore(run, kNextChief, K::kLeaving, 0,
               {.id = "notice", .kind = "preempt", .grace_ns = 1'000 * kTick});
    run.events.At(kNextChief, K::kWorkerExited).count = code;
    const bool is_found =
        std::ranges::count(FindingsOf(run), "grace/no-agreement") > 0;
    EXPECT_EQ(is_found, code == 1) << code;
  }
}

TEST(NoticesTest, NoSaveIsExpected_WithoutCheckpoints) {
  ScriptedRun run;
  run.facts.setup.save_interval_steps = 0;
  run.facts.setup.keep = 0;
  run.LaunchAll();
  run.Initialize();
  run.StepAll(1);
  run.Fire(0, {.id = "notice", .kind = "preempt", .grace_ns = 100 * kTick});
  run.SeeNotice(0);
  run.StepAll(2);
  run.StopAgreed();
  run.SendResult();
  run.Exit(0, 143);
  run.Exit(1, 143);
  run.EndLauncher(143, "stopped");
  EXPECT_THAT(FindingsOf(run), testing::IsEmpty());
}

}  // namespace
}  // namespace gauntlet
