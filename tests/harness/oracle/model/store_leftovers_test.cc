// Checkpoints that the store must contain at the end, and reasons for which a
// run may refuse.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/oracle/model/store_model.h"
#include "tests/harness/oracle/spoiled_run.h"

namespace gauntlet {
namespace {

using K = RecordKind;

class SpoiledLeftoverTest : public testing::TestWithParam<SpoiledRun> {};
class ExcusedLeftoverTest : public testing::TestWithParam<ExcusedRun> {};
class LawfulLeftoverTest : public testing::TestWithParam<LawfulRun> {};

TEST_P(SpoiledLeftoverTest, IsFound) { ExpectFinding(GetParam()); }
TEST_P(ExcusedLeftoverTest, IsFoundWithoutTheExcuseOnly) {
  ExpectExcused(GetParam());
}
TEST_P(LawfulLeftoverTest, HasNoFinding) { ExpectLawful(GetParam()); }

StoredCheckpoint& Left(ScriptedRun& run, uint64_t step) {
  return *std::ranges::find(run.facts.left.checkpoints, step,
                            &StoredCheckpoint::step);
}

void LeaveOneMore(ScriptedRun& run, const TrainingPosition& position,
                  uint64_t generation) {
  run.facts.left.checkpoints.push_back(
      {.name = NameOfSave(position, generation),
       .step = position.step,
       .valid = true,
       .reason = "",
       .digest = DigestAt(position.step, position.phase)});
}

void LeaveDamagedCheckpoint(ScriptedRun& run) { Left(run, 6).valid = false; }
void LoseTheNewest(ScriptedRun& run) { run.facts.left.checkpoints.pop_back(); }
void KeepOneLess(ScriptedRun& run) { run.facts.setup.keep = 2; }
void LeaveTemporaryFiles(ScriptedRun& run) {
  run.facts.left.temporary = {".deleting-g1-step-000000002-g1"};
}
void BringBackStepTwo(ScriptedRun& run) { LeaveOneMore(run, {.step = 2}, 1); }

// Returns a run that keeps one checkpoint, and whose saves from step 4 on are
// not finite.
ScriptedRun NotFiniteRun() {
  ScriptedRun run = UndisturbedRun();
  run.facts.setup.keep = 1;
  run.events.RemoveIf([](const EmittedEvent& one) {
    return one.event.kind == K::kRetireBegin || one.event.kind == K::kRetired;
  });
  SaveNotFinite(run, 3);
  const TrainingPosition eight = {.step = 8,
                                  .phase = RecordPhase::kEvaluationDue};
  for (const std::string& path :
       {PathOfSave(4, 1), PathOfSave(6, 1), "/ckpt/" + NameOfSave(eight, 1)}) {
    run.events.InsertBefore(kChief, K::kFinished, 0, kChief,
                            {.kind = K::kRetireBegin, .path = path});
    run.events.InsertBefore(kChief, K::kFinished, 0, kChief,
                            {.kind = K::kRetired, .path = path});
  }
  run.facts.left.checkpoints.clear();
  LeaveOneMore(run, {.step = 2}, 1);
  LeaveOneMore(run, {.step = 8}, 1);
  run.facts.left.checkpoints.back().not_finite_since = 3;
  return run;
}

// Returns a run in which only its own processes emit events.
ScriptedRun RunOnARealMachine() {
  ScriptedRun run = RecoveredRun();
  run.events.RemoveIf(
      [](const EmittedEvent& one) { return one.by == kMachine; });
  return run;
}

// Lets the first process of worker 0 still run when its successor claims.
void LeaveAStaleWorker(ScriptedRun& run) {
  const auto ends = [](const EmittedEvent& one) {
    const bool is_seen =
        one.event.kind == K::kExited || one.event.kind == K::kProcessEnded;
    return is_seen && one.event.about == 0 && one.event.incarnation == 1;
  };
  std::vector<EmittedEvent> late;
  std::ranges::copy_if(run.events.all(), std::back_inserter(late), ends);
  run.events.RemoveIf(ends);
  for (const EmittedEvent& one : late) {
    run.events.InsertAfter(kNextChief, K::kGeneration, 0, one.by, one.event);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Left, SpoiledLeftoverTest,
    testing::Values(
        SpoiledRun{"UnknownCheckpointIsLeft", UndisturbedRun, "store/unknown",
                   [](ScriptedRun& run) { LeaveOneMore(run, {.step = 6}, 9); }},
        SpoiledRun{"DamagedCheckpointIsLeft", UndisturbedRun,
                   "store/does-not-verify", LeaveDamagedCheckpoint},
        SpoiledRun{"RemovedCheckpointIsLeft", UndisturbedRun, "store/came-back",
                   BringBackStepTwo},
        SpoiledRun{
            "CheckpointHasAnotherState", UndisturbedRun, "store/other-state",
            [](ScriptedRun& run) { Left(run, 6).digest = kOtherDigest; }},
        SpoiledRun{"CheckpointIsNotFinite", UndisturbedRun, "store/other-state",
                   [](ScriptedRun& run) { Left(run, 6).not_finite_since = 3; }},
        SpoiledRun{"NewestIsLost", UndisturbedRun, "store/lost-checkpoint",
                   LoseTheNewest},
        SpoiledRun{"NewestIsLost_LongAfterALyingSync",
                   [] { return CutRun("lying-fsync"); },
                   "store/lost-checkpoint", LoseTheNewest},
        SpoiledRun{"RemovedCheckpointIsLeft_LongAfterALyingSync",
                   [] { return CutRun("lying-fsync"); }, "store/came-back",
                   [](ScriptedRun& run) {
                     LeaveOneMore(
                         run, {.step = 4, .phase = RecordPhase::kEvaluationDue},
                         1);
                   }},
        SpoiledRun{"TooManyAreLeft_AfterALyingSync",
                   [] { return CutRun("lying-fsync"); }, "store/retention",
                   BringBackStepTwo},
        SpoiledRun{"TemporaryFilesAreLeft_AfterALyingSync",
                   [] { return CutRun("lying-fsync"); }, "store/temporary",
                   LeaveTemporaryFiles},
        SpoiledRun{"DeletedCheckpointIsLeft", DeletedRun, "store/came-back",
                   [](ScriptedRun& run) { LeaveOneMore(run, {.step = 6}, 1); }},
        SpoiledRun{"TemporaryFilesAreLeft_AfterAPowerLoss",
                   [] { return CutRun("ext4"); }, "store/temporary",
                   LeaveTemporaryFiles},
        SpoiledRun{"TemporaryFilesAreLeft_OnARealMachine", RunOnARealMachine,
                   "store/temporary", LeaveTemporaryFiles},
        SpoiledRun{"OlderOneIsLost", UndisturbedRun, "store/lost-checkpoint",
                   [](ScriptedRun& run) {
                     run.facts.left.checkpoints.erase(
                         run.facts.left.checkpoints.begin());
                   }},
        SpoiledRun{"LastFiniteOneIsLost", NotFiniteRun, "store/lost-checkpoint",
                   [](ScriptedRun& run) {
                     run.facts.left.checkpoints.erase(
                         run.facts.left.checkpoints.begin());
                   }},
        SpoiledRun{"TooManyAreLeft", UndisturbedRun, "store/retention",
                   KeepOneLess},
        SpoiledRun{"AnotherIsLeftBesideTheLastFiniteOne", NotFiniteRun,
                   "store/retention",
                   [](ScriptedRun& run) {
                     LeaveOneMore(run, {.step = 6}, 1);
                     run.facts.left.checkpoints.back().not_finite_since = 3;
                   }},
        SpoiledRun{"OlderOneIsLeft_ThoughTheNewestIsFinite", NotFiniteRun,
                   "store/retention",
                   [](ScriptedRun& run) {
                     run.facts.left.checkpoints.back().not_finite_since = 0;
                   }},
        SpoiledRun{
            "UnknownRejectedCheckpointIsLeft", FellBackRun, "store/unknown",
            [](ScriptedRun& run) {
              run.facts.left.rejected.push_back("rejected-" + NameOfSave(4, 9));
            }},
        SpoiledRun{"TemporaryFilesAreLeft", UndisturbedRun, "store/temporary",
                   LeaveTemporaryFiles}),
    NameOfCase<SpoiledRun>);

INSTANTIATE_TEST_SUITE_P(
    Left, ExcusedLeftoverTest,
    testing::Values(
        ExcusedRun{
            "FaultDamagedTheCheckpoint", UndisturbedRun,
            "store/does-not-verify", LeaveDamagedCheckpoint,
            [](ScriptedRun& run) { DamageSaveOf(run, NameOfSave(6, 1)); }},
        ExcusedRun{
            "FaultDamagedTheNewest", UndisturbedRun, "store/lost-checkpoint",
            LoseTheNewest,
            [](ScriptedRun& run) { DamageSaveOf(run, NameOfLastSave(1)); }},
        ExcusedRun{"HalfWrittenSaveHadBegun", UndisturbedRun, "store/unknown",
                   [](ScriptedRun& run) {
                     run.facts.left.temporary = {NameOfSave(6, 9) + ".tmp"};
                   },
                   [](ScriptedRun& run) {
                     run.facts.left.temporary = {NameOfSave(6, 1) + ".tmp"};
                   }},
        ExcusedRun{"TemporaryFileIsOfADeletion", UndisturbedRun,
                   "store/unknown",
                   [](ScriptedRun& run) {
                     run.facts.left.temporary = {NameOfSave(6, 9) + ".tmp"};
                   },
                   LeaveTemporaryFiles},
        ExcusedRun{
            "DirectoryIsNotListed", UndisturbedRun, "store/lost-checkpoint",
            LoseTheNewest,
            [](ScriptedRun& run) { run.facts.left.store_listed = false; }},
        ExcusedRun{"DamagedCheckpointHasAnotherState", UndisturbedRun,
                   "store/other-state",
                   [](ScriptedRun& run) { Left(run, 6).digest = kOtherDigest; },
                   [](ScriptedRun& run) {
                     LeaveDamagedCheckpoint(run);
                     DamageSaveOf(run, NameOfSave(6, 1));
                   }},
        ExcusedRun{"SaveHadFailed", UndisturbedRun, "store/does-not-verify",
                   LeaveDamagedCheckpoint,
                   [](ScriptedRun& run) {
                     run.events.At(kChief, K::kSaveAcknowledged, 2).kind =
                         K::kSaveFailed;
                   }},
        ExcusedRun{"NewestIsLost_AfterALyingSync", UndisturbedRun,
                   "store/lost-checkpoint", LoseTheNewest,
                   [](ScriptedRun& run) {
                     LoseSyncedDataBefore(run, kOther, K::kWorkerExited);
                   }},
        ExcusedRun{"CheckpointIsTorn_AfterALyingSync", UndisturbedRun,
                   "store/does-not-verify", LeaveDamagedCheckpoint,
                   [](ScriptedRun& run) {
                     LoseSyncedDataBefore(run, kOther, K::kWorkerExited);
                   }},
        ExcusedRun{"RemovedCheckpointIsLeft_AfterALyingSync", UndisturbedRun,
                   "store/came-back", BringBackStepTwo,
                   [](ScriptedRun& run) {
                     LoseSyncedDataBefore(run, kOther, K::kWorkerExited);
                   }},
        ExcusedRun{"ParentOfAClaimIsKept", RecoveredRun, "store/retired-newest",
                   [](ScriptedRun& run) {
                     // Three checkpoints are kept, one of which was never
                     // acknowledged.
                     run.events.Remove(kChief, K::kSaveAcknowledged, 1);
                     run.events.At(kNextChief, K::kGeneration).path =
                         PathOfSave(2, 1);
                   },
                   [](ScriptedRun& run) {
                     run.events.At(kNextChief, K::kGeneration).path =
                         PathOfSave(4, 1);
                   }},
        ExcusedRun{"StaleWorkerLeavesTemporaryFiles", RecoveredRun,
                   "store/temporary", LeaveTemporaryFiles, LeaveAStaleWorker},
        ExcusedRun{"WorkerThatEndsDuringTheClaimLeavesTemporaryFiles",
                   RecoveredRun, "store/temporary", LeaveTemporaryFiles,
                   [](ScriptedRun& run) {
                     run.events.MoveAfter(kNextChief, K::kClaimBegin, kChief,
                                          K::kWorkerLost);
                   }},
        ExcusedRun{"DiskErrorLeavesTemporaryFiles", UndisturbedRun,
                   "store/temporary", LeaveTemporaryFiles,
                   [](ScriptedRun& run) {
                     FireBefore(run, kChief, K::kWorkerExited, 0, DiskError());
                   }},
        ExcusedRun{"DeathOfTheChiefLeavesTemporaryFiles", UndisturbedRun,
                   "store/temporary", LeaveTemporaryFiles,
                   [](ScriptedRun& run) {
                     run.events.Remove(kChief, K::kWorkerExited);
                   }},
        ExcusedRun{
            "DeathOfTheLauncherLeavesTemporaryFiles", UndisturbedRun,
            "store/temporary", LeaveTemporaryFiles,
            [](ScriptedRun& run) { run.facts.launchers[0].exit_code = 75; }},
        ExcusedRun{"LyingSyncLeavesTemporaryFiles", UndisturbedRun,
                   "store/temporary", LeaveTemporaryFiles,
                   [](ScriptedRun& run) {
                     LoseSyncedDataBefore(run, kChief, K::kWorkerExited);
                   }},
        ExcusedRun{"DeletionLeavesTemporaryFiles", UndisturbedRun,
                   "store/temporary", LeaveTemporaryFiles,
                   [](ScriptedRun& run) {
                     DeleteBefore(run, kChief, K::kWorkerExited);
                   }},
        ExcusedRun{"PermanentCheckpointIsNotCounted", UndisturbedRun,
                   "store/retention", KeepOneLess,
                   [](ScriptedRun& run) {
                     run.events.At(kChief, K::kSaveAcknowledged, 2).reason =
                         RecordReason::kKeptPermanently;
                   }},
        ExcusedRun{
            "FencedCheckpointIsNotCounted", RecoveredRun, "store/retention",
            [](ScriptedRun& run) {
              LeaveOneMore(
                  run, {.step = 4, .phase = RecordPhase::kEvaluationDue}, 1);
            },
            [](ScriptedRun& run) {
              BeginStaleSave(run);
              run.facts.left.checkpoints.back().name = NameOfSave(6, 1);
            }}),
    NameOfCase<ExcusedRun>);

INSTANTIATE_TEST_SUITE_P(
    Left, LawfulLeftoverTest,
    testing::Values(LawfulRun{"LastFiniteOneIsLeftBesideTheNewest",
                              NotFiniteRun, [](ScriptedRun&) {}},
                    LawfulRun{"DamagedCheckpointWasNotSetAside", FellBackRun,
                              [](ScriptedRun& run) {
                                run.facts.left.rejected.clear();
                                LeaveOneMore(
                                    run,
                                    {.step = 4,
                                     .phase = RecordPhase::kEvaluationDue},
                                    1);
                                run.facts.left.checkpoints.back().valid = false;
                              }}),
    NameOfCase<LawfulRun>);

// Removes all saves from the run.
void SaveNothing(ScriptedRun& run) {
  run.facts.left.checkpoints.clear();
  run.events.RemoveIf([](const EmittedEvent& one) {
    const K kind = one.event.kind;
    return kind == K::kSaveBegin || kind == K::kSaveAcknowledged ||
           kind == K::kDamaged || kind == K::kRejected;
  });
}

// Makes all saves fail, and damages nothing.
void FailAllSaves(ScriptedRun& run) {
  run.facts.left.checkpoints.clear();
  run.events.RemoveIf([](const EmittedEvent& one) {
    return one.event.kind == K::kDamaged || one.event.kind == K::kRejected;
  });
  for (EmittedEvent& one : run.events.all()) {
    if (one.event.kind == K::kSaveAcknowledged) one.event.kind = K::kSaveFailed;
  }
}

// Undoes the damage to the save of step 2.
void RepairStepTwo(ScriptedRun& run) {
  run.events.RemoveIf([](const EmittedEvent& one) {
    const bool is_bad =
        one.event.kind == K::kDamaged || one.event.kind == K::kRejected;
    return is_bad && one.event.path.find("step-000000002") != std::string::npos;
  });
}

void LeaveNothing(ScriptedRun& run) { run.facts.left.checkpoints.clear(); }

INSTANTIATE_TEST_SUITE_P(
    Refusals, SpoiledLeftoverTest,
    testing::Values(SpoiledRun{"Refuses_ThoughACheckpointIsIntact", RefusedRun,
                               "clean-refusal/unneeded-refusal", RepairStepTwo},
                    SpoiledRun{"Refuses_ThoughNoCheckpointIsDamaged",
                               RefusedRun, "clean-refusal/unneeded-refusal",
                               SaveNothing},
                    SpoiledRun{"Refuses_ThoughSavesOnlyFailed", RefusedRun,
                               "clean-refusal/unneeded-refusal", FailAllSaves},
                    SpoiledRun{"RefusesAndSendsAResult", RefusedRun,
                               "clean-refusal/with-a-result",
                               [](ScriptedRun& run) {
                                 run.facts.launchers[0].result =
                                     FinalResult{.status = "done"};
                               }},
                    SpoiledRun{"RefusesAndKeepsNoDamagedCheckpoint", RefusedRun,
                               "clean-refusal/no-evidence-kept", LeaveNothing}),
    NameOfCase<SpoiledRun>);

INSTANTIATE_TEST_SUITE_P(
    Refusals, ExcusedLeftoverTest,
    testing::Values(
        ExcusedRun{"RejectedCheckpointIsKept", RefusedRun,
                   "clean-refusal/no-evidence-kept", LeaveNothing,
                   [](ScriptedRun& run) {
                     run.facts.left.rejected = {"rejected-" + NameOfSave(4, 1)};
                   }},
        ExcusedRun{"DeletionLeftNothing", RefusedRun,
                   "clean-refusal/no-evidence-kept", LeaveNothing,
                   [](ScriptedRun& run) {
                     DeleteBefore(run, kNextChief, K::kClaimBegin);
                   }},
        ExcusedRun{"LyingSyncLeftNothing", RefusedRun,
                   "clean-refusal/no-evidence-kept", LeaveNothing,
                   [](ScriptedRun& run) {
                     LoseSyncedDataBefore(run, kNextChief, K::kClaimBegin);
                   }},
        ExcusedRun{"DeletionMayHaveLeftParts", RefusedRun,
                   "clean-refusal/unneeded-refusal", SaveNothing,
                   [](ScriptedRun& run) {
                     DeleteBefore(run, kNextChief, K::kClaimBegin);
                   }},
        ExcusedRun{"LyingSyncMayHaveLeftParts", RefusedRun,
                   "clean-refusal/unneeded-refusal", SaveNothing,
                   [](ScriptedRun& run) {
                     LoseSyncedDataBefore(run, kNextChief, K::kClaimBegin);
                   }},
        ExcusedRun{"DeletionHadBegun", RefusedRun,
                   "clean-refusal/unneeded-refusal", RepairStepTwo,
                   [](ScriptedRun& run) {
                     DeleteBefore(run, kNextChief, K::kClaimBegin);
                   }}),
    NameOfCase<ExcusedRun>);

}  // namespace
}  // namespace gauntlet
