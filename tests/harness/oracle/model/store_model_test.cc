// Guarantees of the checkpoint store for claims, saves and loads.
#include "harness/oracle/model/store_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/oracle/judge.h"
#include "tests/harness/oracle/spoiled_run.h"

namespace gauntlet {
namespace {

using K = RecordKind;
using testing::Contains;
using testing::IsEmpty;
using testing::Not;

const Emitter kFourthChief = WorkerProcess(0, 4);

constexpr const char* kUnknown = "/ckpt/step-000000004-evaluation_due-g9";

constexpr TrainingPosition kCallbacksDue = {
    .step = 4, .phase = RecordPhase::kCallbacksDue};

class SpoiledStoreTest : public testing::TestWithParam<SpoiledRun> {};
class ExcusedStoreTest : public testing::TestWithParam<ExcusedRun> {};
class LawfulStoreTest : public testing::TestWithParam<LawfulRun> {};

TEST_P(SpoiledStoreTest, IsFound) { ExpectFinding(GetParam()); }
TEST_P(ExcusedStoreTest, IsFoundWithoutTheExcuseOnly) {
  ExpectExcused(GetParam());
}
TEST_P(LawfulStoreTest, HasNoFinding) { ExpectLawful(GetParam()); }

ScriptedRun HonestCutRun() { return CutRun("ext4"); }
ScriptedRun LyingCutRun() { return CutRun("lying-fsync"); }

// Returns a run that loses power before its deletion of checkpoints is
// complete.
ScriptedRun DeletionCutShortRun() {
  ScriptedRun run = DeletedTwiceRun();
  run.events.Remove(kChief, K::kBackupDeleted);
  return run;
}

// Returns a run whose disk lied about syncs and lost everything: all workers
// start from scratch.
ScriptedRun NothingLeftRun() {
  ScriptedRun run = LyingCutRun();
  run.events.At(kNextChief, K::kGeneration).path = "";
  EndAfter(run, kNextChief, K::kGeneration);
  run.events.Append(
      kNextChief,
      {.kind = K::kInitialized, .generation = 2, .digest = DigestAt(0)});
  run.facts.ending = RunEnding::kExited;
  return run;
}

void StartCold(ScriptedRun& run) {
  ClaimAndEnd(run, kNextChief, "");
  run.events.Append(
      kNextChief,
      {.kind = K::kInitialized, .generation = 2, .digest = DigestAt(0)});
}

void RemoveStepTwo(ScriptedRun& run, bool to_the_end) {
  run.facts.setup.keep = 1;
  const std::string path = PathOfSave(2, 1);
  if (to_the_end) {
    run.events.InsertAfter(kChief, K::kSaveAcknowledged, 1, kChief,
                           {.kind = K::kRetired, .path = path});
  }
  run.events.InsertAfter(kChief, K::kSaveAcknowledged, 1, kChief,
                         {.kind = K::kRetireBegin, .path = path});
}

// Damages the save of step 4, and lets the next claim start from scratch.
void FallBackToScratch(ScriptedRun& run) {
  DamageSaveOf(run, NameOfSave(4, 1));
  ClaimAndEnd(run, kNextChief, "");
}

// Damages the save of step 4, and lets the next claim have that of step 2 as
// its parent, although that one was removed.
void ResumeFromStepTwo(ScriptedRun& run) {
  RemoveStepTwo(run, true);
  DamageSaveOf(run, NameOfSave(4, 1));
  ClaimAndEnd(run, kNextChief, PathOfSave(2, 1));
}

// Lets the third claim have the stale chief's save as its parent.
void ResumeFromStaleSave(ScriptedRun& run) {
  BeginStaleSave(run);
  ClaimAndEnd(run, kThirdChief, PathOfSave(6, 1));
}

// Lets the fourth claim have the stale chief's save of step 6 as its parent.
// The second chief has saved step 6 too.
void ResumeFromStaleSaveOfTwo(ScriptedRun& run) {
  BeginStaleSave(run);
  ClaimAndEnd(run, kFourthChief, PathOfSave(6, 1));
}

// Acknowledges the stale chief's save after the next claim.
void AcknowledgeStaleSave(ScriptedRun& run) {
  BeginStaleSave(run);
  run.events.InsertAfter(kNextChief, K::kGeneration, 0, kChief,
                         StaleSave(K::kSaveAcknowledged));
}

void LoadStaleSave(ScriptedRun& run) {
  BeginStaleSave(run);
  RecordEvent& loaded = run.events.At(kThirdOther, K::kLoaded);
  loaded.path = PathOfSave(6, 1);
  loaded.step = 6;
  loaded.digest = DigestAt(6);
}

// Lets the first chief delete all checkpoints before the event.
void DeleteAllBefore(ScriptedRun& run, const Emitter& by, K kind) {
  DeleteBefore(run, by, kind);
  run.events.InsertBefore(by, kind, 0, kChief,
                          {.kind = K::kBackupDeleted, .path = "/ckpt"});
}

void FailToLoad(ScriptedRun& run) {
  run.events.InsertBefore(kNextOther, K::kLoaded, 0, kNextOther,
                          {.kind = K::kLoadFailed,
                           .path = PathOfSave(4, 1),
                           .reason = RecordReason::kBadData});
}

void FindFenced(ScriptedRun& run, const std::string& path) {
  run.events.InsertAfter(kNextChief, K::kGeneration, 0, kNextChief,
                         {.kind = K::kFencedFound, .path = path});
}

void DamageAt(ScriptedRun& run, const Emitter& by, RecordKind kind) {
  DamageSaveOf(run, NameOfSave(4, 1));
  run.events.Remove(kChief, K::kDamaged);
  run.events.InsertAfter(
      by, kind, 0, kChief,
      {.kind = K::kDamaged,
       .path = PathOfSave(4, 1) + "/model-00001-of-00002.safetensors",
       .detail = "rot"});
}

SpoiledRun AcknowledgesAfterAFailedSync(const char* name, const char* point) {
  return {name, UndisturbedRun, "store/failed-sync", [point](ScriptedRun& run) {
            FireBefore(run, kChief, K::kSaveAcknowledged, 0,
                       {.id = "sync", .kind = "fsync_fails", .point = point});
          }};
}

void SyncFails(ScriptedRun& run) {
  AcknowledgesAfterAFailedSync("", "ckpt.shard.fsync").spoil(run);
}

INSTANTIATE_TEST_SUITE_P(
    Claims, SpoiledStoreTest,
    testing::Values(
        SpoiledRun{"ClaimBeginsTwice", RecoveredRun,
                   "history-consistent/claims",
                   [](ScriptedRun& run) {
                     run.events.Repeat(kNextChief, K::kClaimBegin);
                   }},
        SpoiledRun{"ClaimNeverBegins", RecoveredRun,
                   "history-consistent/claims",
                   [](ScriptedRun& run) {
                     run.events.Remove(kNextChief, K::kClaimBegin);
                   }},
        SpoiledRun{"GenerationNumberIsReused", RecoveredRun,
                   "history-consistent/claims",
                   [](ScriptedRun& run) { Renumber(run, 2, 1); }},
        SpoiledRun{"GenerationNumberIsReused_AfterALyingSync", TwiceCrashedRun,
                   "history-consistent/claims",
                   [](ScriptedRun& run) {
                     LoseSyncedDataBefore(run, kNextChief, K::kClaimBegin);
                     Renumber(run, 3, 2);
                   }},
        SpoiledRun{"ResumesFromFencedCheckpoint_AfterALyingSync",
                   TwiceCrashedRun, "store/fenced-read",
                   [](ScriptedRun& run) {
                     ResumeFromStaleSave(run);
                     LoseSyncedDataBefore(run, kNextChief, K::kClaimBegin);
                   }},
        SpoiledRun{"GenerationNumberIsReused_WithoutADeletion", DeletedTwiceRun,
                   "history-consistent/claims",
                   [](ScriptedRun& run) {
                     run.events.Remove(kChief, K::kDeleteBegin);
                   }},
        SpoiledRun{
            "ResumesFromUnknownCheckpoint", RecoveredRun,
            "resume-point/unknown-checkpoint",
            [](ScriptedRun& run) { ClaimAndEnd(run, kNextChief, kUnknown); }},
        SpoiledRun{"ResumesFromOlderCheckpoint", RecoveredRun,
                   "resume-point/stale-resume",
                   [](ScriptedRun& run) {
                     ClaimAndEnd(run, kNextChief, PathOfSave(2, 1));
                   }},
        SpoiledRun{"ResumesFromEarlierPhase", TwoPhasesRun,
                   "resume-point/stale-resume",
                   [](ScriptedRun& run) {
                     ClaimAndEnd(run, kThirdChief, PathOfSave(4, 1));
                   }},
        SpoiledRun{"ResumesFromNoCheckpoint", RecoveredRun,
                   "resume-point/stale-resume",
                   [](ScriptedRun& run) { ClaimAndEnd(run, kNextChief, ""); }},
        SpoiledRun{"FallsBack_ThoughAnEarlierClaimReadTheNewest",
                   TwiceCrashedRun, "resume-point/stale-resume",
                   [](ScriptedRun& run) {
                     DamageSaveOf(run, NameOfSave(4, 1));
                     ClaimAndEnd(run, kThirdChief, PathOfSave(2, 1));
                   }},
        SpoiledRun{"ResumesFromRemovedCheckpoint", RecoveredRun,
                   "resume-point/unknown-checkpoint", ResumeFromStepTwo},
        SpoiledRun{"ResumesFromBeforeAPlannedStop", PreemptedRun,
                   "resume-point/stale-resume",
                   [](ScriptedRun& run) {
                     ClaimAndEnd(run, kNextChief, PathOfSave(4, 1));
                   }},
        SpoiledRun{"FallsBackTooFar_IfOneSaveOfAStepIsDamaged", TwoPhasesRun,
                   "resume-point/stale-resume",
                   [](ScriptedRun& run) {
                     DamageSaveOf(run, NameOfSave(kCallbacksDue, 2));
                     ClaimAndEnd(run, kThirdChief, PathOfSave(2, 1));
                   }},
        SpoiledRun{"FallsBack_ThoughAClaimReadTheNewestAfterALyingSync",
                   TwiceCrashedRun, "resume-point/stale-resume",
                   [](ScriptedRun& run) {
                     LoseSyncedDataBefore(run, kNextChief, K::kClaimBegin);
                     ClaimAndEnd(run, kThirdChief, PathOfSave(2, 1));
                   }},
        SpoiledRun{"AcknowledgesAnotherStateThanWasClaimed", RecoveredRun,
                   "resume-point/other-state",
                   [](ScriptedRun& run) {
                     RecordEvent late =
                         run.events.At(kChief, K::kSaveAcknowledged, 1);
                     late.digest = kOtherDigest;
                     run.events.Remove(kChief, K::kSaveAcknowledged, 1);
                     run.events.InsertAfter(kNextChief, K::kGeneration, 0,
                                            kChief, late);
                   }},
        SpoiledRun{"ParentHasAnotherCount", RecoveredRun,
                   "resume-point/other-state",
                   [](ScriptedRun& run) {
                     run.events.At(kNextChief, K::kGeneration).count = 3;
                   }},
        SpoiledRun{
            "ParentHasAnotherDigest", RecoveredRun, "resume-point/other-state",
            [](ScriptedRun& run) {
              run.events.At(kNextChief, K::kGeneration).digest = kOtherDigest;
            }},
        SpoiledRun{"ResumesFromFencedCheckpoint", TwiceCrashedRun,
                   "store/fenced-read", ResumeFromStaleSave},
        SpoiledRun{"ColdStart", RecoveredRun, "no-cold-start/cold-start",
                   StartCold},
        SpoiledRun{"ColdStart_ThoughAFencedCheckpointIsLeft", NothingLeftRun,
                   "no-cold-start/cold-start",
                   [](ScriptedRun& run) {
                     run.events.InsertAfter(
                         kNextChief, K::kClaimBegin, 0, kNextChief,
                         {.kind = K::kFencedFound, .path = PathOfSave(4, 1)});
                   }},
        SpoiledRun{"ColdStart_ThoughARejectedCheckpointIsLeft", NothingLeftRun,
                   "no-cold-start/cold-start",
                   [](ScriptedRun& run) {
                     run.events.InsertAfter(
                         kNextChief, K::kClaimBegin, 0, kNextChief,
                         {.kind = K::kRejected, .path = PathOfSave(4, 1)});
                   }}),
    NameOfCase<SpoiledRun>);

INSTANTIATE_TEST_SUITE_P(
    Claims, ExcusedStoreTest,
    testing::Values(
        ExcusedRun{"ClaimBeginsTwice_AfterADiskError", RecoveredRun,
                   "history-consistent/claims",
                   [](ScriptedRun& run) {
                     run.events.Repeat(kNextChief, K::kClaimBegin);
                   },
                   [](ScriptedRun& run) {
                     FireBefore(run, kNextChief, K::kClaimBegin, 0,
                                DiskError());
                   }},
        ExcusedRun{"GenerationNumberIsReused_AfterALyingSync", HonestCutRun,
                   "history-consistent/claims",
                   [](ScriptedRun& run) { Renumber(run, 2, 1); },
                   [](ScriptedRun& run) {
                     run.events.At(kMachine, K::kPowerCut).detail =
                         "lying-fsync";
                   }},
        ExcusedRun{
            "FallsBack_IfTheNewestIsDamaged", RecoveredRun,
            "resume-point/stale-resume",
            [](ScriptedRun& run) {
              ClaimAndEnd(run, kNextChief, PathOfSave(2, 1));
            },
            [](ScriptedRun& run) { DamageSaveOf(run, NameOfSave(4, 1)); }},
        ExcusedRun{
            "FallsBack_IfTheNewestIsDamagedBeforeItsSaveBegins", RecoveredRun,
            "resume-point/stale-resume",
            [](ScriptedRun& run) {
              ClaimAndEnd(run, kNextChief, PathOfSave(2, 1));
            },
            [](ScriptedRun& run) { DamageAt(run, kOther, K::kInitialized); }},
        ExcusedRun{"FallsBack_IfTheNewestIsDamagedAfterAClaimReadIt",
                   TwiceCrashedRun, "resume-point/stale-resume",
                   [](ScriptedRun& run) {
                     ClaimAndEnd(run, kThirdChief, PathOfSave(2, 1));
                   },
                   [](ScriptedRun& run) {
                     DamageAt(run, kNextChief, K::kClaimBegin);
                   }},
        ExcusedRun{"FallsBack_AfterALyingSync", HonestCutRun,
                   "resume-point/stale-resume",
                   [](ScriptedRun& run) {
                     ClaimAndEnd(run, kNextChief, PathOfSave(2, 1));
                   },
                   [](ScriptedRun& run) {
                     run.events.At(kMachine, K::kPowerCut).detail =
                         "lying-fsync";
                   }},
        ExcusedRun{"FallsBack_IfTheOlderIsBeingRemoved", RecoveredRun,
                   "resume-point/stale-resume", FallBackToScratch,
                   [](ScriptedRun& run) { RemoveStepTwo(run, false); }},
        ExcusedRun{"FallsBack_IfTheOlderWasRemoved", RecoveredRun,
                   "resume-point/stale-resume", FallBackToScratch,
                   [](ScriptedRun& run) { RemoveStepTwo(run, true); }},
        ExcusedRun{"ParentHasAnotherCount_IfNeverAcknowledged", RecoveredRun,
                   "resume-point/other-state",
                   [](ScriptedRun& run) {
                     run.events.At(kNextChief, K::kGeneration).count = 3;
                   },
                   [](ScriptedRun& run) {
                     run.events.Remove(kChief, K::kSaveAcknowledged, 1);
                   }},
        ExcusedRun{"ResumesFromRemovedCheckpoint_DuringADeletion", RecoveredRun,
                   "resume-point/unknown-checkpoint", ResumeFromStepTwo,
                   [](ScriptedRun& run) {
                     DeleteBefore(run, kNextChief, K::kClaimBegin);
                   }},
        ExcusedRun{"ResumesFromFencedCheckpoint_AfterALyingSync",
                   TwiceCrashedRun, "store/fenced-read", ResumeFromStaleSave,
                   [](ScriptedRun& run) {
                     LoseSyncedDataBefore(run, kThirdChief, K::kClaimBegin);
                   }},
        ExcusedRun{"ResumesFromFencedCheckpoint_IfTheClaimIsDamaged",
                   TwiceCrashedRun, "store/fenced-read", ResumeFromStaleSave,
                   [](ScriptedRun& run) {
                     RecordFault flip = CrashFault();
                     flip.id = "flip";
                     flip.kind = "bit_flip";
                     FireBefore(run, kNextChief, K::kGeneration, 0, flip);
                     run.events.InsertBefore(kNextChief, K::kGeneration, 0,
                                             kNextChief,
                                             {.kind = K::kDamaged,
                                              .path = "/ckpt/gen-000002.tmp",
                                              .detail = "flip"});
                   }},
        ExcusedRun{"ResumesFromFencedCheckpoint_WithTheParentsState",
                   CrashedAfterStepSixRun, "store/fenced-read",
                   ResumeFromStaleSaveOfTwo,
                   [](ScriptedRun& run) {
                     run.events.At(kFourthChief, K::kGeneration).digest =
                         DigestAt(6);
                   }},
        ExcusedRun{"ResumesFromFencedCheckpoint_AfterADeletion",
                   TwiceCrashedRun, "store/fenced-read", ResumeFromStaleSave,
                   [](ScriptedRun& run) {
                     DeleteBefore(run, kThirdChief, K::kClaimBegin);
                   }},
        ExcusedRun{
            "ColdStart_IfAllowed", RecoveredRun, "no-cold-start/cold-start",
            StartCold,
            [](ScriptedRun& run) { run.facts.setup.allow_cold_start = true; }}),
    NameOfCase<ExcusedRun>);

INSTANTIATE_TEST_SUITE_P(
    Claims, LawfulStoreTest,
    testing::Values(LawfulRun{"ColdStart_AfterAnInterruptedDeletion",
                              DeletionCutShortRun, [](ScriptedRun&) {}},
                    LawfulRun{"ColdStart_AfterALyingSyncLostEverything",
                              NothingLeftRun, [](ScriptedRun&) {}}),
    NameOfCase<LawfulRun>);

INSTANTIATE_TEST_SUITE_P(
    Saves, SpoiledStoreTest,
    testing::Values(
        SpoiledRun{"NextSaveBeginsBeforeTheOutcome", AsynchronousRun,
                   "store/no-outcome",
                   [](ScriptedRun& run) {
                     run.events.Remove(kChief, K::kSaveAcknowledged, 1);
                   }},
        SpoiledRun{"RunEndsBeforeTheOutcome", UndisturbedRun,
                   "store/no-outcome",
                   [](ScriptedRun& run) {
                     run.events.Remove(kChief, K::kSaveAcknowledged, 4);
                   }},
        SpoiledRun{"WorkerWithoutAClaimSaves", UndisturbedRun, "store/name",
                   [](ScriptedRun& run) {
                     run.events.InsertAfter(
                         kChief, K::kSaveBegin, 0, kOther,
                         run.events.At(kChief, K::kSaveBegin));
                   }},
        SpoiledRun{"SaveIsOfAnotherGeneration", UndisturbedRun, "store/name",
                   [](ScriptedRun& run) {
                     RecordEvent& save = run.events.At(kChief, K::kSaveBegin);
                     save.generation = 2;
                     save.path = PathOfSave(2, 2);
                   }},
        SpoiledRun{"SaveHasTheNameOfAnotherStep", UndisturbedRun, "store/name",
                   [](ScriptedRun& run) {
                     run.events.At(kChief, K::kSaveBegin).path =
                         PathOfSave(3, 1);
                   }},
        SpoiledRun{
            "SaveHasTheNameOfAnotherGeneration", UndisturbedRun, "store/name",
            [](ScriptedRun& run) {
              run.events.At(kChief, K::kSaveBegin).path = PathOfSave(2, 2);
            }},
        SpoiledRun{"AcknowledgesSaveThatNeverBegan", UndisturbedRun,
                   "store/not-begun",
                   [](ScriptedRun& run) {
                     run.events.Remove(kChief, K::kSaveBegin, 1);
                   }},
        SpoiledRun{"AcknowledgesAnotherCheckpoint", UndisturbedRun,
                   "store/not-begun",
                   [](ScriptedRun& run) {
                     run.events.At(kChief, K::kSaveAcknowledged, 1).path =
                         PathOfSave(2, 1);
                   }},
        SpoiledRun{"AcknowledgesAnotherStep", UndisturbedRun, "store/not-begun",
                   [](ScriptedRun& run) {
                     run.events.At(kChief, K::kSaveAcknowledged, 1).step = 3;
                   }},
        SpoiledRun{"AcknowledgesAnotherPhase", TwoPhasesRun, "store/not-begun",
                   [](ScriptedRun& run) {
                     run.events.At(kNextChief, K::kSaveAcknowledged).phase =
                         RecordPhase::kEvaluationDue;
                   }},
        SpoiledRun{"AcknowledgesAfterTheNextClaim", RecoveredRun,
                   "resume-point/fenced-save", AcknowledgeStaleSave},
        AcknowledgesAfterAFailedSync("AcknowledgesAfterAFailedSync",
                                     "ckpt.shard.fsync"),
        AcknowledgesAfterAFailedSync(
            "AcknowledgesAfterAFailedSyncOfTheManifest", "ckpt.manifest.fsync"),
        AcknowledgesAfterAFailedSync("AcknowledgesAfterAFailedSyncOfTheIndex",
                                     "ckpt.index.fsync"),
        SpoiledRun{"AcknowledgesAfterAFailedSyncOfAnotherWorker",
                   UndisturbedRun, "store/failed-sync",
                   [](ScriptedRun& run) {
                     run.events.InsertBefore(kChief, K::kSaveAcknowledged, 0,
                                             kOther,
                                             {.kind = K::kFaultFired,
                                              .path = "ckpt.shard.fsync",
                                              .detail = "sync"});
                     run.facts.faults.push_back({.id = "sync",
                                                 .kind = "fsync_fails",
                                                 .point = "ckpt.shard.fsync"});
                   }},
        SpoiledRun{"SaveFailsThatNeverBegan", UndisturbedRun, "store/not-begun",
                   [](ScriptedRun& run) {
                     run.events.InsertBefore(kChief, K::kSaveBegin, 0, kChief,
                                             {.kind = K::kSaveFailed,
                                              .step = 2,
                                              .path = PathOfSave(2, 1)});
                   }},
        SpoiledRun{"AnotherSaveFailsThanBegan", UndisturbedRun,
                   "store/not-begun",
                   [](ScriptedRun& run) {
                     RecordEvent& saved =
                         run.events.At(kChief, K::kSaveAcknowledged, 1);
                     saved.kind = K::kSaveFailed;
                     saved.path = PathOfSave(2, 1);
                   }}),
    NameOfCase<SpoiledRun>);

INSTANTIATE_TEST_SUITE_P(
    Saves, ExcusedStoreTest,
    testing::Values(
        ExcusedRun{"FailedSyncIsOfTheDirectory", UndisturbedRun,
                   "store/failed-sync", SyncFails,
                   [](ScriptedRun& run) {
                     run.events.At(kChief, K::kFaultFired).path =
                         "ckpt.directory.fsync";
                   }},
        ExcusedRun{"FailedSyncPrecedesTheSave", UndisturbedRun,
                   "store/failed-sync", SyncFails,
                   [](ScriptedRun& run) {
                     run.events.MoveAfter(kChief, K::kFaultFired, kChief,
                                          K::kStep, 1);
                   }},
        ExcusedRun{"SyncIsSlowInsteadOfFailing", UndisturbedRun,
                   "store/failed-sync", SyncFails,
                   [](ScriptedRun& run) { run.facts.faults[0].kind = "slow"; }},
        ExcusedRun{"AcknowledgesAfterTheNextClaim_AfterADeletion", RecoveredRun,
                   "resume-point/fenced-save", AcknowledgeStaleSave,
                   [](ScriptedRun& run) {
                     DeleteBefore(run, kNextChief, K::kGeneration);
                   }},
        ExcusedRun{"AcknowledgesTheParentOfTheNextClaim", RecoveredRun,
                   "resume-point/fenced-save", AcknowledgeStaleSave,
                   [](ScriptedRun& run) {
                     run.events.At(kNextChief, K::kGeneration).path =
                         PathOfSave(6, 1);
                   }}),
    NameOfCase<ExcusedRun>);

INSTANTIATE_TEST_SUITE_P(
    Saves, LawfulStoreTest,
    testing::Values(
        LawfulRun{"SaveFailsBeforeItHasAName", UndisturbedRun,
                  [](ScriptedRun& run) {
                    run.events.InsertBefore(
                        kChief, K::kSaveBegin, 0, kChief,
                        {.kind = K::kSaveFailed, .generation = 1, .step = 2});
                  }},
        LawfulRun{"RejoinInterruptsASave", RejoinedRun, BeginStaleSave},
        LawfulRun{"DeathInterruptsASave", RecoveredRun, BeginStaleSave}),
    NameOfCase<LawfulRun>);

INSTANTIATE_TEST_SUITE_P(
    Loads, SpoiledStoreTest,
    testing::Values(
        SpoiledRun{"LoadsUnknownCheckpoint", RecoveredRun, "store/unknown",
                   [](ScriptedRun& run) {
                     run.events.At(kNextOther, K::kLoaded).path = kUnknown;
                   }},
        SpoiledRun{"LoadsAnotherState", RecoveredRun, "store/torn-load",
                   [](ScriptedRun& run) {
                     run.events.At(kNextOther, K::kLoaded).digest =
                         kOtherDigest;
                   }},
        SpoiledRun{"LoadsAnotherStep", RecoveredRun, "store/torn-load",
                   [](ScriptedRun& run) {
                     run.events.At(kNextOther, K::kLoaded).step = 3;
                   }},
        SpoiledRun{"CannotLoadIntactCheckpoint", RecoveredRun,
                   "store/does-not-verify", FailToLoad},
        SpoiledRun{"CannotLoadIntactCheckpoint_ClaimedAfterADeletion",
                   RecoveredRun, "store/does-not-verify",
                   [](ScriptedRun& run) {
                     FailToLoad(run);
                     DeleteAllBefore(run, kNextChief, K::kClaimBegin);
                   }},
        SpoiledRun{"LoadsFencedCheckpoint", TwiceCrashedRun,
                   "store/fenced-read", LoadStaleSave},
        SpoiledRun{"FindsUnknownCheckpointFenced", RecoveredRun,
                   "store/unknown",
                   [](ScriptedRun& run) { FindFenced(run, kUnknown); }},
        SpoiledRun{"FindsValidCheckpointFenced", RecoveredRun,
                   "store/false-fenced",
                   [](ScriptedRun& run) { FindFenced(run, PathOfSave(4, 1)); }},
        SpoiledRun{"FindsCheckpointFencedTwice", RecoveredRun, "store/twice",
                   [](ScriptedRun& run) {
                     BeginStaleSave(run);
                     FindFenced(run, PathOfSave(6, 1));
                     FindFenced(run, PathOfSave(6, 1));
                   }}),
    NameOfCase<SpoiledRun>);

INSTANTIATE_TEST_SUITE_P(
    Loads, ExcusedStoreTest,
    testing::Values(
        ExcusedRun{"FindsEachFencedCheckpoint", RecoveredRun,
                   "store/fenced-not-found", AcknowledgeStaleSave,
                   [](ScriptedRun& run) { FindFenced(run, PathOfSave(6, 1)); }},
        ExcusedRun{
            "FencedCheckpointIsDamaged", RecoveredRun, "store/fenced-not-found",
            AcknowledgeStaleSave,
            [](ScriptedRun& run) { DamageSaveOf(run, NameOfSave(6, 1)); }},
        ExcusedRun{"FencedCheckpointIsBeingRemoved", RecoveredRun,
                   "store/fenced-not-found", AcknowledgeStaleSave,
                   [](ScriptedRun& run) {
                     run.events.InsertBefore(
                         kNextChief, K::kResumed, 0, kChief,
                         {.kind = K::kRetireBegin, .path = PathOfSave(6, 1)});
                   }},
        ExcusedRun{"FencedCheckpointWasNeverAcknowledged", RecoveredRun,
                   "store/fenced-not-found", AcknowledgeStaleSave,
                   [](ScriptedRun& run) {
                     run.events.Remove(kChief, K::kSaveAcknowledged, 2);
                   }},
        ExcusedRun{"FencedCheckpointIsLost_AfterALyingSync", RecoveredRun,
                   "store/fenced-not-found", AcknowledgeStaleSave,
                   [](ScriptedRun& run) {
                     LoseSyncedDataBefore(run, kNextChief, K::kResumed);
                   }},
        ExcusedRun{"FencedCheckpointIsDeleted", RecoveredRun,
                   "store/fenced-not-found", AcknowledgeStaleSave,
                   [](ScriptedRun& run) {
                     DeleteBefore(run, kNextChief, K::kResumed);
                   }},
        ExcusedRun{"CannotLoadDeletedCheckpoint", RecoveredRun,
                   "store/does-not-verify", FailToLoad,
                   [](ScriptedRun& run) {
                     DeleteAllBefore(run, kNextChief, K::kGeneration);
                   }},
        ExcusedRun{"CannotLoadDamagedCheckpoint", RecoveredRun,
                   "store/does-not-verify", FailToLoad,
                   [](ScriptedRun& run) {
                     DamageAt(run, kNextOther, K::kWorkerStarted);
                     run.events.MoveAfter(kChief, K::kDamaged, kNextChief,
                                          K::kGeneration);
                   }},
        ExcusedRun{"CannotLoadCheckpointThatIsBeingRemoved", RecoveredRun,
                   "store/does-not-verify", FailToLoad,
                   [](ScriptedRun& run) {
                     run.events.InsertBefore(
                         kNextOther, K::kLoadFailed, 0, kChief,
                         {.kind = K::kRetireBegin, .path = PathOfSave(4, 1)});
                   }},
        ExcusedRun{"LoadsFencedCheckpoint_AfterALyingSync", TwiceCrashedRun,
                   "store/fenced-read", LoadStaleSave,
                   [](ScriptedRun& run) {
                     LoseSyncedDataBefore(run, kThirdChief, K::kClaimBegin);
                   }},
        ExcusedRun{"LoadsFencedCheckpoint_AfterADeletion", TwiceCrashedRun,
                   "store/fenced-read", LoadStaleSave,
                   [](ScriptedRun& run) {
                     DeleteBefore(run, kThirdChief, K::kClaimBegin);
                   }},
        ExcusedRun{"FindsDamagedCheckpointFenced", RecoveredRun,
                   "store/false-fenced",
                   [](ScriptedRun& run) { FindFenced(run, PathOfSave(4, 1)); },
                   [](ScriptedRun& run) {
                     DamageAt(run, kNextChief, K::kClaimBegin);
                   }},
        ExcusedRun{"FindsValidCheckpointFenced_AfterALyingSync", RecoveredRun,
                   "store/false-fenced",
                   [](ScriptedRun& run) { FindFenced(run, PathOfSave(4, 1)); },
                   [](ScriptedRun& run) {
                     LoseSyncedDataBefore(run, kNextChief, K::kClaimBegin);
                   }}),
    NameOfCase<ExcusedRun>);

// A sync fails on a worker of the previous generation.
TEST(StoreModelTest, FailedSyncDoesNotAffectSavesOfAnotherGeneration) {
  ScriptedRun run = RecoveredRun();
  FireBefore(
      run, kNextOther, K::kFinished, 0,
      {.id = "sync", .kind = "fsync_fails", .point = "ckpt.shard.fsync"});
  EmittedEvent fired;
  for (EmittedEvent& one : run.events.all()) {
    if (one.event.detail == "sync") fired = one;
  }
  run.events.RemoveIf(
      [](const EmittedEvent& one) { return one.event.detail == "sync"; });
  run.events.InsertBefore(kNextChief, K::kSaveAcknowledged, 0, kNextOther,
                          fired.event);
  EXPECT_THAT(FindingsOf(run), Contains("store/failed-sync"));
  run.events.RemoveIf(
      [](const EmittedEvent& one) { return one.event.detail == "sync"; });
  run.events.InsertBefore(kNextChief, K::kSaveAcknowledged, 0, kOther,
                          fired.event);
  EXPECT_THAT(FindingsOf(run), Not(Contains("store/failed-sync")));
}

TEST(StoreModelTest, DamageToAnotherFileDoesNotExcuseAFallback) {
  for (const char* file : {"/ckpt/checkpoint.tmp", "/ckpt/gen-000000001",
                           "/ckpt/step-000000006-g1/MANIFEST.json"}) {
    ScriptedRun run = RecoveredRun();
    DamageSaveOf(run, NameOfSave(4, 1));
    ClaimAndEnd(run, kNextChief, PathOfSave(2, 1));
    ASSERT_THAT(FindingsOf(run), Not(Contains("resume-point/stale-resume")));
    run.events.At(kChief, K::kDamaged).path = file;
    EXPECT_THAT(FindingsOf(run), Contains("resume-point/stale-resume")) << file;
  }
}

// Returns the message "… cannot load …, but nothing has damaged it".
std::string MessageOnFailedLoad(const ScriptedRun& run) {
  for (const InvariantReport& report : Judge(run.record()).invariants) {
    for (const Finding& finding : report.findings) {
      if (finding.name == "does-not-verify") return finding.message;
    }
  }
  return "no finding";
}

TEST(StoreModelTest, FailedLoadNamesEarlierDamageByAFault) {
  ScriptedRun run = RecoveredRun();
  FailToLoad(run);
  EXPECT_THAT(MessageOnFailedLoad(run),
              testing::EndsWith(", but nothing has damaged it"));
  DamageSaveOf(run, NameOfSave(4, 1));
  EXPECT_THAT(
      MessageOnFailedLoad(run),
      testing::EndsWith(", and was loaded after a fault had damaged it"));
}

TEST(StoreModelTest, FailedLoadAfterAPowerLoss_StatesThatTheSaveMustSurviveIt) {
  ScriptedRun run = HonestCutRun();
  FailToLoad(run);
  EXPECT_THAT(MessageOnFailedLoad(run),
              testing::EndsWith(", but its save was acknowledged, so it must "
                                "survive the power loss"));
}

TEST(StoreModelTest, FaultThatDamagesNoFileDoesNotExcuseAFallback) {
  ScriptedRun run = RecoveredRun();
  DamageSaveOf(run, NameOfSave(4, 1));
  ClaimAndEnd(run, kNextChief, PathOfSave(2, 1));
  run.facts.faults.back().kind = "slow";
  EXPECT_THAT(FindingsOf(run), Contains("resume-point/stale-resume"));
}

}  // namespace
}  // namespace gauntlet
