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

void LeaveOneMore(ScriptedRun& run, const TrainingPosition& moment,
                  uint64_t generation) {
  run.facts.left.checkpoints.push_back(
      {.name = NameOfSave(moment, generation),
       .step = moment.step,
       .valid = true,
       .reason = "",
       .digest = DigestAt(moment.step, moment.phase)});
}

void LeaveABadOne(ScriptedRun& run) { Left(run, 6).valid = false; }
void LoseTheNewest(ScriptedRun& run) { run.facts.left.checkpoints.pop_back(); }
void KeepOneLess(ScriptedRun& run) { run.facts.setup.keep = 2; }
void LeaveRemains(ScriptedRun& run) {
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
    run.events.InsertBehind(kNextChief, K::kGeneration, 0, one.by, one.event);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Left, SpoiledLeftoverTest,
    testing::Values(
        SpoiledRun{"LeavesAnUnknownOne", UndisturbedRun, "store/unknown",
                   [](ScriptedRun& run) { LeaveOneMore(run, {.step = 6}, 9); }},
        SpoiledRun{"LeavesABadOne", UndisturbedRun, "store/does-not-verify",
                   LeaveABadOne},
        SpoiledRun{"LeavesARemovedOne", UndisturbedRun, "store/came-back",
                   BringBackStepTwo},
        SpoiledRun{
            "LeavesAnotherState", UndisturbedRun, "store/other-state",
            [](ScriptedRun& run) { Left(run, 6).digest = kOtherDigest; }},
        SpoiledRun{"LeavesAStateThatIsNotFinite", UndisturbedRun,
                   "store/other-state",
                   [](ScriptedRun& run) { Left(run, 6).not_finite_since = 3; }},
        SpoiledRun{"LosesTheNewest", UndisturbedRun, "store/newest-lost",
                   LoseTheNewest},
        SpoiledRun{"LosesTheNewestAfterALyingDisk",
                   [] { return CutRun("lying-fsync"); }, "store/newest-lost",
                   LoseTheNewest},
        SpoiledRun{"BringsBackWhatWasRemovedBehindALie",
                   [] { return CutRun("lying-fsync"); }, "store/came-back",
                   [](ScriptedRun& run) {
                     LeaveOneMore(
                         run, {.step = 4, .phase = RecordPhase::kEvaluationDue},
                         1);
                   }},
        SpoiledRun{"LeavesTooManyBehindALie",
                   [] { return CutRun("lying-fsync"); }, "store/retention",
                   BringBackStepTwo},
        SpoiledRun{"LeavesRemainsBehindALie",
                   [] { return CutRun("lying-fsync"); }, "store/temporary",
                   LeaveRemains},
        SpoiledRun{"LeavesADeletedOne", DeletedRun, "store/came-back",
                   [](ScriptedRun& run) { LeaveOneMore(run, {.step = 6}, 1); }},
        SpoiledRun{"LeavesRemainsAfterAPowerCut", [] { return CutRun("ext4"); },
                   "store/temporary", LeaveRemains},
        SpoiledRun{"LeavesRemainsOnARealMachine", RunOnARealMachine,
                   "store/temporary", LeaveRemains},
        SpoiledRun{"LosesAnother", UndisturbedRun, "store/newest-lost",
                   [](ScriptedRun& run) {
                     run.facts.left.checkpoints.erase(
                         run.facts.left.checkpoints.begin());
                   }},
        SpoiledRun{"LosesTheLastFiniteOne", NotFiniteRun, "store/newest-lost",
                   [](ScriptedRun& run) {
                     run.facts.left.checkpoints.erase(
                         run.facts.left.checkpoints.begin());
                   }},
        SpoiledRun{"LeavesTooMany", UndisturbedRun, "store/retention",
                   KeepOneLess},
        SpoiledRun{"LeavesAnotherBesideTheLastFiniteOne", NotFiniteRun,
                   "store/retention",
                   [](ScriptedRun& run) {
                     LeaveOneMore(run, {.step = 6}, 1);
                     run.facts.left.checkpoints.back().not_finite_since = 3;
                   }},
        SpoiledRun{"LeavesAnOlderOneBesideAFiniteOne", NotFiniteRun,
                   "store/retention",
                   [](ScriptedRun& run) {
                     run.facts.left.checkpoints.back().not_finite_since = 0;
                   }},
        SpoiledRun{"LeavesAnUnknownOneSetAside", FellBackRun, "store/unknown",
                   [](ScriptedRun& run) {
                     run.facts.left.rejected.push_back("rejected-" +
                                                       NameOfSave(4, 9));
                   }},
        SpoiledRun{"LeavesRemains", UndisturbedRun, "store/temporary",
                   LeaveRemains}),
    NameOfCase<SpoiledRun>);

INSTANTIATE_TEST_SUITE_P(
    Left, ExcusedLeftoverTest,
    testing::Values(
        ExcusedRun{
            "ADamagedOneNeedNotVerify", UndisturbedRun, "store/does-not-verify",
            LeaveABadOne,
            [](ScriptedRun& run) { DamageSaveOf(run, NameOfSave(6, 1)); }},
        ExcusedRun{
            "ADamagedOneIsNotLost", UndisturbedRun, "store/newest-lost",
            LoseTheNewest,
            [](ScriptedRun& run) { DamageSaveOf(run, NameOfLastSave(1)); }},
        ExcusedRun{"AHalfWrittenOneWasBegun", UndisturbedRun, "store/unknown",
                   [](ScriptedRun& run) {
                     run.facts.left.temporary = {NameOfSave(6, 9) + ".tmp"};
                   },
                   [](ScriptedRun& run) {
                     run.facts.left.temporary = {NameOfSave(6, 1) + ".tmp"};
                   }},
        ExcusedRun{"OtherRemainsAreOfNoSave", UndisturbedRun, "store/unknown",
                   [](ScriptedRun& run) {
                     run.facts.left.temporary = {NameOfSave(6, 9) + ".tmp"};
                   },
                   LeaveRemains},
        ExcusedRun{
            "TheStoreIsNotListed", UndisturbedRun, "store/newest-lost",
            LoseTheNewest,
            [](ScriptedRun& run) { run.facts.left.store_listed = false; }},
        ExcusedRun{"ADamagedOneHasAnotherState", UndisturbedRun,
                   "store/other-state",
                   [](ScriptedRun& run) { Left(run, 6).digest = kOtherDigest; },
                   [](ScriptedRun& run) {
                     LeaveABadOne(run);
                     DamageSaveOf(run, NameOfSave(6, 1));
                   }},
        ExcusedRun{"AFailedSaveNeedNotVerify", UndisturbedRun,
                   "store/does-not-verify", LeaveABadOne,
                   [](ScriptedRun& run) {
                     run.events.At(kChief, K::kSaveAcknowledged, 2).kind =
                         K::kSaveFailed;
                   }},
        ExcusedRun{"ALyingDiskForgets", UndisturbedRun, "store/newest-lost",
                   LoseTheNewest,
                   [](ScriptedRun& run) {
                     ForgetBefore(run, kOther, K::kWorkerExited);
                   }},
        ExcusedRun{"ALyingDiskTearsWhatItForgets", UndisturbedRun,
                   "store/does-not-verify", LeaveABadOne,
                   [](ScriptedRun& run) {
                     ForgetBefore(run, kOther, K::kWorkerExited);
                   }},
        ExcusedRun{"ALyingDiskForgetsARemoval", UndisturbedRun,
                   "store/came-back", BringBackStepTwo,
                   [](ScriptedRun& run) {
                     ForgetBefore(run, kOther, K::kWorkerExited);
                   }},
        ExcusedRun{"AnAdoptedSaveIsOwed", RecoveredRun, "store/retired-newest",
                   [](ScriptedRun& run) {
                     // Three are kept, one of which was never acknowledged.
                     run.events.Remove(kChief, K::kSaveAcknowledged, 1);
                     run.events.At(kNextChief, K::kGeneration).path =
                         PathOfSave(2, 1);
                   },
                   [](ScriptedRun& run) {
                     run.events.At(kNextChief, K::kGeneration).path =
                         PathOfSave(4, 1);
                   }},
        ExcusedRun{"AStaleWorkerLeavesRemains", RecoveredRun, "store/temporary",
                   LeaveRemains, LeaveAStaleWorker},
        ExcusedRun{"AStaleWorkerThatEndsDuringTheClaimLeavesRemains",
                   RecoveredRun, "store/temporary", LeaveRemains,
                   [](ScriptedRun& run) {
                     run.events.MoveBehind(kNextChief, K::kClaimBegin, kChief,
                                           K::kWorkerLost);
                   }},
        ExcusedRun{"ARefusingDiskLeavesRemains", UndisturbedRun,
                   "store/temporary", LeaveRemains,
                   [](ScriptedRun& run) {
                     FireBefore(run, kChief, K::kWorkerExited, 0, DiskError());
                   }},
        ExcusedRun{"ADyingChiefLeavesRemains", UndisturbedRun,
                   "store/temporary", LeaveRemains,
                   [](ScriptedRun& run) {
                     run.events.Remove(kChief, K::kWorkerExited);
                   }},
        ExcusedRun{
            "ADyingLauncherLeavesRemains", UndisturbedRun, "store/temporary",
            LeaveRemains,
            [](ScriptedRun& run) { run.facts.launchers[0].exit_code = 75; }},
        ExcusedRun{"ALyingDiskLeavesRemains", UndisturbedRun, "store/temporary",
                   LeaveRemains,
                   [](ScriptedRun& run) {
                     ForgetBefore(run, kChief, K::kWorkerExited);
                   }},
        ExcusedRun{"ADeletionLeavesRemains", UndisturbedRun, "store/temporary",
                   LeaveRemains,
                   [](ScriptedRun& run) {
                     DeleteBefore(run, kChief, K::kWorkerExited);
                   }},
        ExcusedRun{"OneThatIsKeptForGoodIsNotCounted", UndisturbedRun,
                   "store/retention", KeepOneLess,
                   [](ScriptedRun& run) {
                     run.events.At(kChief, K::kSaveAcknowledged, 2).reason =
                         RecordReason::kKeptForGood;
                   }},
        ExcusedRun{"AVoidOneIsNotCounted", RecoveredRun, "store/retention",
                   [](ScriptedRun& run) {
                     LeaveOneMore(
                         run, {.step = 4, .phase = RecordPhase::kEvaluationDue},
                         1);
                   },
                   [](ScriptedRun& run) {
                     BeginStaleSave(run);
                     run.facts.left.checkpoints.back().name = NameOfSave(6, 1);
                   }}),
    NameOfCase<ExcusedRun>);

INSTANTIATE_TEST_SUITE_P(
    Left, LawfulLeftoverTest,
    testing::Values(LawfulRun{"KeepsTheLastFiniteOneBesideTheNewest",
                              NotFiniteRun, [](ScriptedRun&) {}},
                    LawfulRun{"ABadOneThatWasNotSetAside", FellBackRun,
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
void LeaveAGoodOne(ScriptedRun& run) {
  run.events.RemoveIf([](const EmittedEvent& one) {
    const bool is_bad =
        one.event.kind == K::kDamaged || one.event.kind == K::kRejected;
    return is_bad && one.event.path.find("step-000000002") != std::string::npos;
  });
}

void LeaveNothing(ScriptedRun& run) { run.facts.left.checkpoints.clear(); }

INSTANTIATE_TEST_SUITE_P(
    Refusals, SpoiledLeftoverTest,
    testing::Values(SpoiledRun{"RefusesThoughOneIsGood", RefusedRun,
                               "clean-refusal/unneeded-refusal", LeaveAGoodOne},
                    SpoiledRun{"RefusesThoughNothingIsBad", RefusedRun,
                               "clean-refusal/unneeded-refusal", SaveNothing},
                    SpoiledRun{"RefusesThoughSavesOnlyFailed", RefusedRun,
                               "clean-refusal/unneeded-refusal", FailAllSaves},
                    SpoiledRun{"RefusesAndHasAResult", RefusedRun,
                               "clean-refusal/with-a-result",
                               [](ScriptedRun& run) {
                                 run.facts.launchers[0].result =
                                     FinalResult{.status = "done"};
                               }},
                    SpoiledRun{"RefusesAndKeepsNoEvidence", RefusedRun,
                               "clean-refusal/no-evidence-kept", LeaveNothing}),
    NameOfCase<SpoiledRun>);

INSTANTIATE_TEST_SUITE_P(
    Refusals, ExcusedLeftoverTest,
    testing::Values(ExcusedRun{"OneThatIsSetAsideIsEvidence", RefusedRun,
                               "clean-refusal/no-evidence-kept", LeaveNothing,
                               [](ScriptedRun& run) {
                                 run.facts.left.rejected = {"rejected-" +
                                                            NameOfSave(4, 1)};
                               }},
                    ExcusedRun{"NothingIsLeftOfADeletion", RefusedRun,
                               "clean-refusal/no-evidence-kept", LeaveNothing,
                               [](ScriptedRun& run) {
                                 DeleteBefore(run, kNextChief, K::kClaimBegin);
                               }},
                    ExcusedRun{"NothingIsLeftOnALyingDisk", RefusedRun,
                               "clean-refusal/no-evidence-kept", LeaveNothing,
                               [](ScriptedRun& run) {
                                 ForgetBefore(run, kNextChief, K::kClaimBegin);
                               }},
                    ExcusedRun{"ADeletionMayHaveLeftPieces", RefusedRun,
                               "clean-refusal/unneeded-refusal", SaveNothing,
                               [](ScriptedRun& run) {
                                 DeleteBefore(run, kNextChief, K::kClaimBegin);
                               }},
                    ExcusedRun{"ALyingDiskMayHaveLeftPieces", RefusedRun,
                               "clean-refusal/unneeded-refusal", SaveNothing,
                               [](ScriptedRun& run) {
                                 ForgetBefore(run, kNextChief, K::kClaimBegin);
                               }},
                    ExcusedRun{"WhatIsBeingDeletedIsOwedToNobody", RefusedRun,
                               "clean-refusal/unneeded-refusal", LeaveAGoodOne,
                               [](ScriptedRun& run) {
                                 DeleteBefore(run, kNextChief, K::kClaimBegin);
                               }}),
    NameOfCase<ExcusedRun>);

}  // namespace
}  // namespace gauntlet
