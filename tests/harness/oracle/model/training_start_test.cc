// Start of a generation: from its claim's parent, from a state that one of its
// workers holds in memory, or from scratch.
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/oracle/model/training_model.h"
#include "tests/harness/oracle/spoiled_run.h"

namespace gauntlet {
namespace {

using K = RecordKind;
using testing::Contains;
using testing::Not;

class SpoiledStartTest : public testing::TestWithParam<SpoiledRun> {};
class ExcusedStartTest : public testing::TestWithParam<ExcusedRun> {};
class LawfulStartTest : public testing::TestWithParam<LawfulRun> {};

TEST_P(SpoiledStartTest, IsFound) { ExpectFinding(GetParam()); }
TEST_P(ExcusedStartTest, IsFoundWithoutTheExcuseOnly) {
  ExpectExcused(GetParam());
}
TEST_P(LawfulStartTest, HasNoFinding) { ExpectLawful(GetParam()); }

// Makes both workers carry on from `step` instead.
void ResumeFromMemory(ScriptedRun& run, uint64_t step) {
  for (const Emitter& by : {kChief, kNextOther}) {
    RecordEvent& event = run.events.At(by, K::kResumedFromMemory);
    event.step = step;
    event.digest = DigestAt(step);
  }
}

RecordEvent& Resumed(ScriptedRun& run) {
  return run.events.At(kNextOther, K::kResumed);
}

INSTANTIATE_TEST_SUITE_P(
    Starts, SpoiledStartTest,
    testing::Values(
        SpoiledRun{"GenerationWasNeverClaimed", RecoveredRun,
                   "history-consistent/claims",
                   [](ScriptedRun& run) {
                     run.events.Remove(kNextChief, K::kClaimBegin);
                     run.events.Remove(kNextChief, K::kGeneration);
                   }},
        SpoiledRun{
            "JoinsBeforeItLeaves", RejoinedRun,
            "history-consistent/generations",
            [](ScriptedRun& run) { run.events.Remove(kChief, K::kLeft); }},
        SpoiledRun{
            "LeavesWithAnotherStep", RejoinedRun, "history-consistent/steps",
            [](ScriptedRun& run) { run.events.At(kChief, K::kLeft).step = 5; }},
        SpoiledRun{"RanksResumeFromDifferentSteps", RecoveredRun,
                   "resume-point/ranks-disagree",
                   [](ScriptedRun& run) { Resumed(run).step = 2; }},
        SpoiledRun{"RanksResumeFromDifferentPhases", TwoPhasesRun,
                   "resume-point/ranks-disagree",
                   [](ScriptedRun& run) {
                     run.events.At(kThirdOther, K::kResumed).phase =
                         RecordPhase::kEvaluationDue;
                   }},
        SpoiledRun{"RanksResumeFromMemoryAtDifferentSteps", RejoinedRun,
                   "resume-point/ranks-disagree",
                   [](ScriptedRun& run) {
                     run.events.At(kNextOther, K::kResumedFromMemory).step = 5;
                   }},
        SpoiledRun{"ResumesFromMemory_BeforeItsLastTrainedStep", RejoinedRun,
                   "bounded-loss/recomputed-after-rejoin",
                   [](ScriptedRun& run) { ResumeFromMemory(run, 5); }},
        SpoiledRun{"ResumesFromCheckpoint_BeforeItsLastTrainedStep",
                   RejoinedRun, "bounded-loss/recomputed-after-rejoin",
                   [](ScriptedRun& run) {
                     for (const Emitter& by : {kChief, kNextOther}) {
                       RecordEvent& event =
                           run.events.At(by, K::kResumedFromMemory);
                       event.kind = K::kResumed;
                       event.step = 5;
                     }
                   }},
        SpoiledRun{"ResumesFromMemory_BeforeTheReceivedState", RejoinedRun,
                   "bounded-loss/recomputed-after-rejoin",
                   [](ScriptedRun& run) {
                     RecordEvent again =
                         run.events.At(kNextOther, K::kResumedFromMemory);
                     again.step = 5;
                     run.events.InsertAfter(kNextOther, K::kResumedFromMemory,
                                            0, kNextOther, again);
                     run.events.InsertAfter(
                         kNextOther, K::kResumedFromMemory, 0, kNextOther,
                         {.kind = K::kLeft, .generation = 2, .step = 6});
                   }},
        SpoiledRun{"ColdStart_ThoughTheClaimHasAParent", RecoveredRun,
                   "resume-point/stale-resume",
                   [](ScriptedRun& run) {
                     RecordEvent& resumed = Resumed(run);
                     resumed = {.kind = K::kInitialized,
                                .generation = 2,
                                .digest = DigestAt(0)};
                   }},
        SpoiledRun{
            "ResumesFromAnotherCheckpointThanClaimed", RecoveredRun,
            "resume-point/unknown-checkpoint",
            [](ScriptedRun& run) { Resumed(run).path = NameOfSave(2, 1); }},
        SpoiledRun{"ResumesFromAnotherStep", RecoveredRun,
                   "resume-point/unknown-checkpoint",
                   [](ScriptedRun& run) { Resumed(run).step = 5; }},
        SpoiledRun{
            "ResumesWithAnotherState", RecoveredRun, "store/changed-load",
            [](ScriptedRun& run) { Resumed(run).digest = kOtherDigest; }},
        SpoiledRun{"ResumesWithTheStateOfAnotherPhase", TwoPhasesRun,
                   "store/changed-load",
                   [](ScriptedRun& run) {
                     run.events.At(kThirdChief, K::kResumed).digest =
                         DigestAt(4, RecordPhase::kEvaluationDue);
                   }},
        SpoiledRun{"ResumesWithoutLoading", RecoveredRun,
                   "resume-point/not-loaded",
                   [](ScriptedRun& run) {
                     run.events.Remove(kNextOther, K::kLoaded);
                   }},
        SpoiledRun{"ResumesFromMemory_BeforeTheParent", RejoinedRun,
                   "resume-point/stale-resume",
                   [](ScriptedRun& run) { ResumeFromMemory(run, 3); }},
        SpoiledRun{"KeepsStateThatItDoesNotHold", RejoinedRun,
                   "resume-point/unknown-checkpoint",
                   [](ScriptedRun& run) {
                     run.events.At(kChief, K::kResumedFromMemory).step = 7;
                   }},
        SpoiledRun{"ReceivesStateThatNoWorkerHolds", RejoinedRun,
                   "resume-point/unknown-checkpoint",
                   [](ScriptedRun& run) {
                     run.events.At(kNextOther, K::kResumedFromMemory).step = 7;
                   }},
        SpoiledRun{"ReceivesAnotherState", RejoinedRun,
                   "trajectory/state-digest",
                   [](ScriptedRun& run) {
                     run.events.At(kNextOther, K::kResumedFromMemory).digest =
                         kOtherDigest;
                   }},
        SpoiledRun{"ReceivesOtherBitsThanTheHolder", RejoinedRun,
                   "replicas-agree/replica-mismatch",
                   [](ScriptedRun& run) {
                     run.events.At(kNextOther, K::kResumedFromMemory).digest =
                         kOtherDigest;
                   }},
        SpoiledRun{"ResumesAtAnotherSample", RecoveredRun,
                   "trajectory/position",
                   [](ScriptedRun& run) { Resumed(run).position = 12; }},
        SpoiledRun{"ResumesInAnotherEpoch", RecoveredRun, "trajectory/position",
                   [](ScriptedRun& run) { Resumed(run).epoch = 1; }},
        SpoiledRun{"ResumesAtAStepThatTheReferenceLacks", RecoveredRun,
                   "trajectory/off-trajectory",
                   [](ScriptedRun& run) {
                     Resumed(run).phase = RecordPhase::kInEpoch;
                     Resumed(run).step = 9;
                   }}),
    NameOfCase<SpoiledRun>);

INSTANTIATE_TEST_SUITE_P(
    Starts, LawfulStartTest,
    testing::Values(LawfulRun{"GenerationNumberIsReused_AfterADeletion",
                              DeletedTwiceRun, [](ScriptedRun&) {}},
                    LawfulRun{"GenerationNumberIsReused_AfterALyingSync",
                              [] { return CutRun("lying-fsync"); },
                              [](ScriptedRun& run) {
                                Renumber(run, 2, 1);
                                // Both claims now have the same name, so the
                                // list of the store would lack one of them.
                                run.facts.left.store_listed = false;
                              }},
                    LawfulRun{"ClaimsAgain_BeforeItHasAState", TwiceCrashedRun,
                              [](ScriptedRun&) {}}),
    NameOfCase<LawfulRun>);

// Returns a run of workers without a store, which start from scratch: each
// start of the job is a generation of its own, though none is claimed.
ScriptedRun RunWithoutAStore() {
  ScriptedRun run;
  run.facts.setup.save_interval_steps = 0;
  run.facts.setup.keep = 0;
  run.LaunchAll();
  run.Claim();
  run.Initialize();
  run.TrainTo(5);
  run.Fire(1, CrashFault());
  run.Die(1);
  run.Lose(0, 1);
  run.Exit(0, 75, RecordReason::kLostWorker);
  run.Restart(1);
  run.StartAll();
  run.ClaimNumber(1);
  run.Initialize();
  run.TrainTo(kLastStep);
  run.Finish();
  run.events.RemoveIf([](const EmittedEvent& one) {
    return one.event.kind == K::kClaimBegin || one.event.kind == K::kGeneration;
  });
  return run;
}

INSTANTIATE_TEST_SUITE_P(WithoutAStore, LawfulStartTest,
                         testing::Values(LawfulRun{"EachStartIsAGeneration",
                                                   RunWithoutAStore,
                                                   [](ScriptedRun&) {}}),
                         NameOfCase<LawfulRun>);

// Sets the policy to rejoin. Worker 0 held step 6 and had no fault, so the
// restart of all workers from step 4 is an error.
void ForgetStepSix(ScriptedRun& run) { run.facts.setup.rejoins = true; }

void FireWithTheCrash(ScriptedRun& run, const RecordFault& fault) {
  FireBefore(run, kOther, K::kFaultFired, 0, fault);
}

ExcusedRun Forgetting(const char* name, Edit excuse) {
  return {name, RecoveredRun, "bounded-loss/memory-lost", ForgetStepSix,
          std::move(excuse)};
}

INSTANTIATE_TEST_SUITE_P(
    MemoryIsLost, ExcusedStartTest,
    testing::Values(
        Forgetting("AllWorkersRestart",
                   [](ScriptedRun& run) { run.facts.setup.rejoins = false; }),
        Forgetting("AnotherLauncherStarts",
                   [](ScriptedRun& run) {
                     run.events.InsertBefore(kNextChief, K::kWorkerStarted, 0,
                                             LauncherProcess(2),
                                             {.kind = K::kLauncherBegin});
                   }),
        Forgetting("DuringAPartition",
                   [](ScriptedRun& run) {
                     FireWithTheCrash(run,
                                      {.id = "outage", .kind = "partition"});
                   }),
        Forgetting("AfterAPreemptionNotice",
                   [](ScriptedRun& run) {
                     FireWithTheCrash(run, {.id = "notice", .kind = "preempt"});
                   }),
        Forgetting("AfterADiskError",
                   [](ScriptedRun& run) {
                     FireWithTheCrash(run, DiskError());
                   }),
        Forgetting("AfterAPowerLoss",
                   [](ScriptedRun& run) {
                     FireWithTheCrash(run, {.id = "cut", .kind = "power_loss"});
                   }),
        Forgetting("AfterAPowerLossOfOneHost",
                   [](ScriptedRun& run) {
                     FireWithTheCrash(run, {.id = "cut",
                                            .kind = "power_loss",
                                            .of_one_host = true});
                   }),
        Forgetting("AfterThreeRestartsWithoutProgress",
                   [](ScriptedRun& run) {
                     for (int i = 0; i < 3; ++i) {
                       run.events.InsertBefore(kNextChief, K::kLoaded, 0,
                                               LauncherProcess(1),
                                               {.kind = K::kRestarting});
                     }
                   }),
        Forgetting("HolderHadFinished",
                   [](ScriptedRun& run) {
                     run.events.InsertBefore(
                         kChief, K::kWorkerExited, 0, kChief,
                         {.kind = K::kFinished, .generation = 1});
                   }),
        Forgetting("FaultHitTheHolder",
                   [](ScriptedRun& run) {
                     RecordFault crash = CrashFault();
                     crash.id = "second";
                     FireBefore(run, kChief, K::kWorkerLost, 0, crash);
                   })),
    NameOfCase<ExcusedRun>);

// A partition excuses lost memory only while it lasts.
TEST(TrainingStartTest, EarlierPartitionDoesNotExcuseLostMemory) {
  for (const int64_t duration_ns : {int64_t{1}, int64_t{0}}) {
    ScriptedRun run = RecoveredRun();
    ForgetStepSix(run);
    FireBefore(
        run, kOther, K::kInitialized, 0,
        {.id = "outage", .kind = "partition", .duration_ns = duration_ns});
    run.events.MoveAfter(kOther, K::kFaultFired, kChief, K::kClaimBegin);
    if (duration_ns == 0) {
      EXPECT_THAT(FindingsOf(run), Not(Contains("bounded-loss/memory-lost")));
    } else {
      EXPECT_THAT(FindingsOf(run), Contains("bounded-loss/memory-lost"));
    }
  }
}

// A step in between is progress: the three deaths are not consecutive.
TEST(TrainingStartTest, DeathsAfterProgressDoNotExcuseLostMemory) {
  ScriptedRun run = RecoveredRun();
  ForgetStepSix(run);
  for (const char* id : {"second", "third"}) {
    RecordFault crash = CrashFault();
    crash.id = id;
    FireBefore(run, kOther, K::kStep, 2, crash);
  }
  EXPECT_THAT(FindingsOf(run), Contains("bounded-loss/memory-lost"));
}

// Only the chief reports steps to the launcher.
TEST(TrainingStartTest, StepOfAnotherWorkerThanTheChiefIsNoProgress) {
  ScriptedRun run = RecoveredRun();
  ForgetStepSix(run);
  RecordEvent step_six = run.events.At(kChief, K::kStep, 5);
  run.events.Remove(kChief, K::kStep, 5);
  for (int i = 0; i < 3; ++i) {
    run.events.InsertBefore(kOther, K::kFaultFired, 0, LauncherProcess(1),
                            {.kind = K::kRestarting});
  }
  run.events.InsertBefore(kOther, K::kFaultFired, 0, kOther, step_six);
  EXPECT_THAT(FindingsOf(run), Not(Contains("bounded-loss/memory-lost")));
}

TEST(TrainingStartTest, MemoryIsNotLost_WithALauncher) {
  ScriptedRun run = RecoveredRun();
  run.facts.setup.rejoins = true;
  EXPECT_THAT(FindingsOf(run), Contains("bounded-loss/memory-lost"));
}

}  // namespace
}  // namespace gauntlet
