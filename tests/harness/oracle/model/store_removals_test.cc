// Guarantees of the checkpoint store while checkpoints are removed: by
// retention, because they are bad, and at the end of a finished run.
#include <gtest/gtest.h>

#include "harness/oracle/model/store_model.h"
#include "tests/harness/oracle/spoiled_run.h"

namespace gauntlet {
namespace {

using K = RecordKind;

constexpr const char* kUnknown = "/ckpt/step-000000004-evaluation_due-g9";

constexpr TrainingPosition kCallbacksDue = {
    .step = 4, .phase = RecordPhase::kCallbacksDue};

class SpoiledRemovalTest : public testing::TestWithParam<SpoiledRun> {};
class ExcusedRemovalTest : public testing::TestWithParam<ExcusedRun> {};
class LawfulRemovalTest : public testing::TestWithParam<LawfulRun> {};

TEST_P(SpoiledRemovalTest, IsFound) { ExpectFinding(GetParam()); }
TEST_P(ExcusedRemovalTest, IsFoundWithoutTheExcuseOnly) {
  ExpectExcused(GetParam());
}
TEST_P(LawfulRemovalTest, HasNoFinding) { ExpectLawful(GetParam()); }

ScriptedRun Undisturbed(int keep, bool async_saves) {
  if (async_saves) return AsynchronousRun();
  ScriptedRun run;
  run.facts.setup.keep = keep;
  run.LaunchAll();
  run.Claim();
  run.Initialize();
  run.TrainTo(kLastStep);
  run.Finish();
  return run;
}

// Returns a run that removes the save of step 2 after that of step 6, and then
// trains step 7.
ScriptedRun RunThatKeepsTwo() { return Undisturbed(2, false); }

// Returns a run whose state is not finite from step 3 on, so that the save of
// step 2 is kept.
ScriptedRun NotFiniteRun() {
  ScriptedRun run = Undisturbed(5, false);
  SaveNotFinite(run, 3);
  for (StoredCheckpoint& left : run.facts.left.checkpoints) {
    if (left.step > 2) left.not_finite_since = 3;
  }
  run.facts.setup.keep = 4;
  return run;
}

// Returns a run that keeps one checkpoint. The chief dies while it removes the
// save of step 2, and its successor completes the removal.
ScriptedRun RunThatDiedAsItRemoved() {
  ScriptedRun run;
  run.facts.setup.keep = 1;
  run.LaunchAll();
  run.Claim();
  run.Initialize();
  run.TrainTo(3);
  run.StepAll(4);
  run.BeginSave();
  run.Acknowledge();
  run.events.Append(kChief,
                    {.kind = K::kRetireBegin, .path = PathOfSave(2, 1)});
  run.Fire(0, CrashFault());
  run.Die(0);
  run.Lose(1, 0);
  run.Exit(1, 75, RecordReason::kLostWorker);
  run.Restart(0);
  run.StartAll();
  run.Claim(NameOfSave(4, 1));
  run.Resume(NameOfSave(4, 1),
             {.step = 4, .phase = RecordPhase::kEvaluationDue});
  run.Evaluate();
  run.EndEpoch();
  run.TrainTo(kLastStep);
  run.Finish();
  return run;
}

// Removes the checkpoint: emits both events of the removal after the given
// event.
void Remove(ScriptedRun& run, const Emitter& at, RecordKind kind, size_t nth,
            const std::string& path) {
  run.events.InsertAfter(at, kind, nth, kChief,
                         {.kind = K::kRetired, .path = path});
  run.events.InsertAfter(at, kind, nth, kChief,
                         {.kind = K::kRetireBegin, .path = path});
}

// Lets a stale chief remove the checkpoint that its successor meanwhile claims
// as its parent.
void RemoveParent(ScriptedRun& run) {
  const std::string path = PathOfSave(4, 1);
  run.events.InsertAfter(kNextChief, K::kGeneration, 0, kChief,
                         {.kind = K::kRetired, .path = path});
  run.events.InsertBefore(kNextChief, K::kGeneration, 0, kChief,
                          {.kind = K::kRetireBegin, .path = path});
}

void DropEndOfRemoval(ScriptedRun& run) {
  run.events.Remove(kChief, K::kRetired);
}

// Removes the checkpoint of step 2 after those of steps 4 and 6 are saved,
// although three must be kept.
void RemoveTooMany(ScriptedRun& run) {
  run.events.Remove(kChief, K::kRetireBegin);
  run.events.Remove(kChief, K::kRetired);
  Remove(run, kChief, K::kSaveAcknowledged, 2, PathOfSave(2, 1));
}

void FailToSave(ScriptedRun& run, RecordReason reason) {
  run.events.InsertBefore(
      kChief, K::kRetireBegin, 0, kChief,
      {.kind = K::kSaveFailed, .generation = 1, .step = 6, .reason = reason});
}

INSTANTIATE_TEST_SUITE_P(
    Retention, SpoiledRemovalTest,
    testing::Values(
        SpoiledRun{"RetentionRemovesTooMany", UndisturbedRun,
                   "store/retired-newest", RemoveTooMany},
        SpoiledRun{"RetentionRemovesTheNewest", RunThatKeepsTwo,
                   "store/retired-newest",
                   [](ScriptedRun& run) {
                     Remove(run, kChief, K::kSaveAcknowledged, 2,
                            PathOfSave(6, 1));
                   }},
        SpoiledRun{"RemovesTheNewest_WithoutRetention", UndisturbedRun,
                   "store/retired-newest",
                   [](ScriptedRun& run) {
                     run.facts.setup.keep = 0;
                     Remove(run, kChief, K::kSaveAcknowledged, 2,
                            PathOfSave(6, 1));
                   }},
        SpoiledRun{"RemovesTooMany_AfterASaveFailedWithRoomLeft",
                   UndisturbedRun, "store/retired-newest",
                   [](ScriptedRun& run) {
                     RemoveTooMany(run);
                     FailToSave(run, RecordReason::kDiskError);
                   }},
        SpoiledRun{"StaleChiefRemovesTheParent", RecoveredRun,
                   "store/retired-newest",
                   [](ScriptedRun& run) {
                     run.events.InsertAfter(
                         kNextChief, K::kGeneration, 0, kChief,
                         {.kind = K::kRetireBegin, .path = PathOfSave(4, 1)});
                   }},
        SpoiledRun{"RemovesTheParent_AfterRejectingANewerOne", FellBackRun,
                   "store/retired-newest",
                   [](ScriptedRun& run) {
                     run.events.InsertAfter(
                         kNextChief, K::kRejectBegin, 0, kNextChief,
                         {.kind = K::kRetireBegin, .path = PathOfSave(2, 1)});
                   }},
        SpoiledRun{"RemovesTheLastFiniteCheckpoint", NotFiniteRun,
                   "store/retired-finite",
                   [](ScriptedRun& run) {
                     Remove(run, kChief, K::kSaveAcknowledged, 4,
                            PathOfSave(2, 1));
                   }},
        SpoiledRun{"RemovesPermanentCheckpoint", UndisturbedRun,
                   "store/retired-for-good",
                   [](ScriptedRun& run) {
                     run.events.At(kChief, K::kSaveAcknowledged, 0).reason =
                         RecordReason::kKeptPermanently;
                   }},
        SpoiledRun{"RemovalNeverBegan", UndisturbedRun, "store/not-begun",
                   [](ScriptedRun& run) {
                     run.events.Remove(kChief, K::kRetireBegin);
                   }},
        SpoiledRun{"RemovesAnotherThanItBeganTo", UndisturbedRun,
                   "store/not-begun",
                   [](ScriptedRun& run) {
                     run.events.At(kChief, K::kRetired).path = PathOfSave(6, 1);
                   }},
        SpoiledRun{"StaleChiefRemovesTheNextParent", RecoveredRun,
                   "store/retired-parent", RemoveParent},
        SpoiledRun{"FinishesBeforeTheRemovalEnds", RunThatKeepsTwo,
                   "store/no-outcome", DropEndOfRemoval},
        SpoiledRun{"SavesBeforeTheRemovalEnds", UndisturbedRun,
                   "store/no-outcome", DropEndOfRemoval},
        SpoiledRun{"EndsBeforeTheRemovalEnds", UndisturbedRun,
                   "store/no-outcome",
                   [](ScriptedRun& run) {
                     run.events.Remove(kChief, K::kRetired, 1);
                   }},
        SpoiledRun{"SavesAsynchronouslyBeforeTheRemovalEnds", AsynchronousRun,
                   "store/no-outcome", DropEndOfRemoval}),
    NameOfCase<SpoiledRun>);

INSTANTIATE_TEST_SUITE_P(
    Retention, ExcusedRemovalTest,
    testing::Values(
        ExcusedRun{
            "RemovesTooMany_IfTheDiskIsFull", UndisturbedRun,
            "store/retired-newest", RemoveTooMany,
            [](ScriptedRun& run) { FailToSave(run, RecordReason::kDiskFull); }},
        ExcusedRun{"RemovesFiniteCheckpoint_IfANewerOneIsFinite", NotFiniteRun,
                   "store/retired-finite",
                   [](ScriptedRun& run) {
                     Remove(run, kChief, K::kSaveAcknowledged, 4,
                            PathOfSave(2, 1));
                   },
                   [](ScriptedRun& run) {
                     run.events.At(kChief, K::kSaveAcknowledged, 2).count = 0;
                   }},
        ExcusedRun{"RemovesFiniteCheckpoint_IfTheParentIsFinite", RecoveredRun,
                   "store/retired-finite",
                   [](ScriptedRun& run) {
                     run.events.Remove(kChief, K::kSaveAcknowledged, 1);
                     run.events.At(kNextChief, K::kGeneration).count = 3;
                     run.events.InsertAfter(
                         kNextChief, K::kGeneration, 0, kNextChief,
                         {.kind = K::kRetireBegin, .path = PathOfSave(2, 1)});
                   },
                   [](ScriptedRun& run) {
                     run.events.At(kNextChief, K::kGeneration).count = 0;
                   }},
        ExcusedRun{"RemovesTheEarlierPhaseOfAStep", TwoPhasesRun,
                   "store/retired-newest",
                   [](ScriptedRun& run) {
                     run.facts.setup.keep = 1;
                     run.events.InsertAfter(
                         kNextChief, K::kSaveAcknowledged, 0, kNextChief,
                         {.kind = K::kRetireBegin,
                          .path = "/ckpt/" + NameOfSave(kCallbacksDue, 2)});
                   },
                   [](ScriptedRun& run) {
                     run.events.At(kNextChief, K::kRetireBegin).path =
                         PathOfSave(4, 1);
                   }},
        ExcusedRun{"StaleChiefRemovesAnotherThanTheNextParent", RecoveredRun,
                   "store/retired-parent", RemoveParent,
                   [](ScriptedRun& run) {
                     for (const K kind : {K::kRetireBegin, K::kRetired}) {
                       run.events.At(kChief, kind).path = PathOfSave(2, 1);
                     }
                   }},
        ExcusedRun{"RemovalFailsWithADiskError", RunThatKeepsTwo,
                   "store/no-outcome", DropEndOfRemoval,
                   [](ScriptedRun& run) {
                     FireBefore(run, kChief, K::kStep, 6, DiskError());
                   }},
        ExcusedRun{"NextGenerationBeginsBeforeTheRemovalEnds", RunThatKeepsTwo,
                   "store/no-outcome", DropEndOfRemoval,
                   [](ScriptedRun& run) {
                     run.events.InsertAfter(kChief, K::kRetireBegin, 0, kOther,
                                            {.kind = K::kGeneration,
                                             .generation = 2,
                                             .path = PathOfSave(6, 1)});
                     run.events.InsertAfter(
                         kChief, K::kRetireBegin, 0, kOther,
                         {.kind = K::kClaimBegin, .count = 2});
                   }}),
    NameOfCase<ExcusedRun>);

INSTANTIATE_TEST_SUITE_P(
    Retention, LawfulRemovalTest,
    testing::Values(
        LawfulRun{"RemovesRejectedCheckpoint", FellBackRun,
                  [](ScriptedRun& run) {
                    run.events.InsertBefore(
                        kNextChief, K::kFinished, 0, kNextChief,
                        {.kind = K::kRetireBegin,
                         .path = "/ckpt/rejected-" + NameOfSave(4, 1)});
                  }},
        LawfulRun{"RemovesUnacknowledgedCheckpoint", TwiceCrashedRun,
                  [](ScriptedRun& run) {
                    BeginStaleSave(run);
                    run.events.InsertAfter(
                        kThirdChief, K::kGeneration, 0, kThirdChief,
                        {.kind = K::kRetireBegin, .path = PathOfSave(6, 1)});
                  }},
        LawfulRun{"TrainsDuringARemoval", RunThatKeepsTwo,
                  [](ScriptedRun& run) {
                    run.events.MoveAfter(kChief, K::kRetired, kChief, K::kStep,
                                         6);
                  }},
        LawfulRun{"ChiefDiesDuringARemoval", RunThatDiedAsItRemoved,
                  [](ScriptedRun&) {}}),
    NameOfCase<LawfulRun>);

INSTANTIATE_TEST_SUITE_P(
    Rejections, SpoiledRemovalTest,
    testing::Values(
        SpoiledRun{"RejectsUnknownCheckpoint", FellBackRun, "store/unknown",
                   [](ScriptedRun& run) {
                     run.events.At(kNextChief, K::kRejected).path = kUnknown;
                   }},
        SpoiledRun{"RejectsCheckpointTwice", FellBackRun, "store/twice",
                   [](ScriptedRun& run) {
                     run.events.Repeat(kNextChief, K::kRejected);
                   }},
        SpoiledRun{
            "RejectsIntactCheckpoint", FellBackRun, "store/does-not-verify",
            [](ScriptedRun& run) { run.events.Remove(kChief, K::kDamaged); }},
        SpoiledRun{"SetsCheckpointAsideWithoutRejectingIt", FellBackRun,
                   "store/not-begun",
                   [](ScriptedRun& run) {
                     run.events.At(kNextChief, K::kRejectBegin).path =
                         PathOfSave(2, 1);
                   }}),
    NameOfCase<SpoiledRun>);

INSTANTIATE_TEST_SUITE_P(
    Rejections, ExcusedRemovalTest,
    testing::Values(ExcusedRun{"RejectedCheckpointStays_IfTheDiskFails",
                               FellBackRun, "store/not-set-aside",
                               [](ScriptedRun& run) {
                                 run.events.Remove(kNextChief, K::kRejectBegin);
                               },
                               [](ScriptedRun& run) {
                                 FireBefore(run, kNextChief, K::kLoaded, 0,
                                            DiskError());
                               }},
                    ExcusedRun{"SetsCheckpointAsideAgain_AfterADiskError",
                               FellBackRun, "store/not-begun",
                               [](ScriptedRun& run) {
                                 run.events.Repeat(kNextChief, K::kRejectBegin);
                               },
                               [](ScriptedRun& run) {
                                 FireBefore(run, kNextChief, K::kRejectBegin, 1,
                                            DiskError());
                               }},
                    ExcusedRun{"RejectsIntactCheckpoint_AfterALyingSync",
                               FellBackRun, "store/does-not-verify",
                               [](ScriptedRun& run) {
                                 run.events.Remove(kChief, K::kDamaged);
                               },
                               [](ScriptedRun& run) {
                                 LoseSyncedDataBefore(run, kNextChief,
                                                      K::kClaimBegin);
                               }}),
    NameOfCase<ExcusedRun>);

INSTANTIATE_TEST_SUITE_P(Rejections, LawfulRemovalTest,
                         testing::Values(LawfulRun{
                             "NextClaimRejectsItAgain", FellBackRun,
                             [](ScriptedRun& run) {
                               const RecordEvent rejected =
                                   run.events.At(kNextChief, K::kRejected);
                               // The chief tried another number first.
                               run.events.InsertBefore(
                                   kNextChief, K::kClaimBegin, 0, kNextChief,
                                   {.kind = K::kClaimBegin, .count = 3});
                               run.events.InsertAfter(kNextChief,
                                                      K::kClaimBegin, 0,
                                                      kNextChief, rejected);
                             }}),
                         NameOfCase<LawfulRun>);

void NeverDelete(ScriptedRun& run) {
  run.events.Remove(kChief, K::kDeleteBegin);
  run.events.Remove(kChief, K::kBackupDeleted);
  // Drops the beginnings of the last three removals.
  for (int i = 0; i < 3; ++i) run.events.Remove(kChief, K::kRetireBegin, 1);
}

RecordFault Outage() {
  return {.id = "outage", .kind = "asymmetric_partition"};
}

INSTANTIATE_TEST_SUITE_P(
    Deletion, SpoiledRemovalTest,
    testing::Values(
        SpoiledRun{"DeletesCheckpointsThatMustBeKept", DeletedRun,
                   "checkpoints-deleted/deleted",
                   [](ScriptedRun& run) {
                     run.facts.setup.delete_at_success = false;
                   }},
        SpoiledRun{"DeletesCheckpointsOfALaterGeneration", DeletedTwiceRun,
                   "checkpoints-deleted/deleted",
                   [](ScriptedRun& run) {
                     run.events.MoveAfter(kChief, K::kDeleteBegin, kNextChief,
                                          K::kGeneration);
                     run.events.Remove(kChief, K::kBackupDeleted);
                   }},
        SpoiledRun{"DeletesAnotherDirectory", DeletedRun,
                   "checkpoints-deleted/deleted",
                   [](ScriptedRun& run) {
                     for (const K kind : {K::kDeleteBegin, K::kBackupDeleted}) {
                       run.events.At(kChief, kind).path = "/other";
                     }
                   }},
        SpoiledRun{"DeletionBeginsTwice", DeletedRun,
                   "checkpoints-deleted/deleted",
                   [](ScriptedRun& run) {
                     run.events.Repeat(kChief, K::kDeleteBegin);
                   }},
        SpoiledRun{"DeletesAnotherThanItBeganTo", DeletedRun,
                   "checkpoints-deleted/deleted",
                   [](ScriptedRun& run) {
                     run.events.At(kChief, K::kBackupDeleted).path = "/other";
                   }},
        SpoiledRun{"DeletionNeverBegan", DeletedRun,
                   "checkpoints-deleted/deleted",
                   [](ScriptedRun& run) {
                     run.events.Remove(kChief, K::kDeleteBegin);
                   }},
        SpoiledRun{"NeverDeletes", DeletedRun,
                   "checkpoints-deleted/not-deleted", NeverDelete},
        SpoiledRun{"NeverDeletes_ThoughTheResultArrivedInAnOutage", DeletedRun,
                   "checkpoints-deleted/not-deleted",
                   [](ScriptedRun& run) {
                     NeverDelete(run);
                     FireBefore(run, kChief, K::kFinished, 0, Outage());
                   }},
        SpoiledRun{"NeverDeletes_ThoughTheOutageWasOver", DeletedRun,
                   "checkpoints-deleted/not-deleted",
                   [](ScriptedRun& run) {
                     NeverDelete(run);
                     run.events.Remove(kChief, K::kResultAcknowledged);
                     RecordFault outage = Outage();
                     outage.duration_ns = 1;
                     FireBefore(run, kChief, K::kStep, 0, outage);
                   }},
        SpoiledRun{"NeverDeletes_AndGetsNoAcknowledgement", DeletedRun,
                   "checkpoints-deleted/not-deleted",
                   [](ScriptedRun& run) {
                     NeverDelete(run);
                     run.events.Remove(kChief, K::kResultAcknowledged);
                   }}),
    NameOfCase<SpoiledRun>);

INSTANTIATE_TEST_SUITE_P(
    Deletion, ExcusedRemovalTest,
    testing::Values(
        ExcusedRun{"OutageDelaysTheAcknowledgement", DeletedRun,
                   "checkpoints-deleted/not-deleted",
                   [](ScriptedRun& run) {
                     NeverDelete(run);
                     run.events.Remove(kChief, K::kResultAcknowledged);
                   },
                   [](ScriptedRun& run) {
                     FireBefore(run, kChief, K::kFinished, 0, Outage());
                   }},
        ExcusedRun{"DeletionFailsWithADiskError", DeletedRun,
                   "checkpoints-deleted/not-deleted", NeverDelete,
                   [](ScriptedRun& run) {
                     FireBefore(run, kChief, K::kWorkerExited, 0, DiskError());
                   }},
        ExcusedRun{"NewerGenerationOwnsTheDirectory", DeletedRun,
                   "checkpoints-deleted/not-deleted", NeverDelete,
                   [](ScriptedRun& run) {
                     run.events.InsertBefore(kChief, K::kWorkerExited, 0,
                                             kChief, {.kind = K::kFencedOut});
                   }},
        ExcusedRun{"FinalStateIsNotFinite", DeletedRun,
                   "checkpoints-deleted/not-deleted", NeverDelete,
                   [](ScriptedRun& run) {
                     run.events.At(kChief, K::kFinished).count = 3;
                   }},
        ExcusedRun{
            "RunStopsEarly", DeletedRun, "checkpoints-deleted/not-deleted",
            NeverDelete,
            [](ScriptedRun& run) { run.events.Remove(kChief, K::kFinished); }},
        ExcusedRun{"ChiefDiesBeforeTheDeletion", DeletedRun,
                   "checkpoints-deleted/not-deleted", NeverDelete,
                   [](ScriptedRun& run) {
                     run.events.Remove(kChief, K::kWorkerExited);
                   }}),
    NameOfCase<ExcusedRun>);

}  // namespace
}  // namespace gauntlet
