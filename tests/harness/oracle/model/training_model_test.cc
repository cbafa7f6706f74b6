// Training: steps, epochs, samples, saves, stops and results, compared with the
// reference run.
#include "harness/oracle/model/training_model.h"

#include <algorithm>

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

class SpoiledTrainingTest : public testing::TestWithParam<SpoiledRun> {};
class ExcusedTrainingTest : public testing::TestWithParam<ExcusedRun> {};
class LawfulTrainingTest : public testing::TestWithParam<LawfulRun> {};

TEST_P(SpoiledTrainingTest, IsFound) { ExpectFinding(GetParam()); }
TEST_P(ExcusedTrainingTest, IsFoundWithoutTheExcuseOnly) {
  ExpectExcused(GetParam());
}
TEST_P(LawfulTrainingTest, HasNoFinding) { ExpectLawful(GetParam()); }

// Returns worker 1's event of step 6 in its second incarnation. Step 6 is in
// the second epoch, steps 5 to 8.
RecordEvent& StepSix(ScriptedRun& run) {
  return run.events.At(kNextOther, K::kStep, 1);
}

ScriptedRun RunWithoutAReference() {
  ScriptedRun run = UndisturbedRun();
  run.facts.golden = {};
  return run;
}

// Returns a run that has no finite state.
ScriptedRun NotFiniteRun() {
  ScriptedRun run = UndisturbedRun();
  SaveNotFinite(run, 1);
  for (StoredCheckpoint& left : run.facts.left.checkpoints) {
    left.not_finite_since = 1;
  }
  return run;
}

// Returns a run whose save of step 6 finds the state not finite.
ScriptedRun RunWithASaveThatIsNotFinite() {
  ScriptedRun run;
  run.facts.setup.keep = 5;
  run.LaunchAll();
  run.Claim();
  run.Initialize();
  run.TrainTo(kLastStep);
  run.Finish();
  for (EmittedEvent& one : run.events.all()) {
    const bool says = one.event.kind == K::kSaveAcknowledged ||
                      one.event.kind == K::kFinished;
    if (says && one.event.step >= 6) one.event.count = 6;
  }
  for (const Emitter& by : {kOther, kChief}) {
    run.events.InsertAfter(
        kChief, K::kSaveAcknowledged, 2, by,
        {.kind = K::kNotFinite, .generation = 1, .step = 6, .epoch = 1});
  }
  for (StoredCheckpoint& left : run.facts.left.checkpoints) {
    if (left.step >= 6) left.not_finite_since = 6;
  }
  return run;
}

// Returns a run in which worker 3 crashes in step 6: ranks 0 and 2 wait for it,
// and rank 1 waits for rank 0.
ScriptedRun RunOfFour() {
  ScriptedRun run(4);
  run.LaunchAll();
  run.Claim();
  run.Initialize();
  run.TrainTo(5);
  run.Fire(3, CrashFault());
  run.Die(3);
  run.Lose(0, 3);
  run.Lose(1, 0);
  run.Lose(2, 3);
  for (const int worker : {0, 1, 2}) {
    run.Exit(worker, 75, RecordReason::kLostWorker);
  }
  run.Restart(3);
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

// Lets a fault that fires once damage a file of the save of step 4 twice.
void DamageTwice(ScriptedRun& run) {
  run.facts.faults.back().always = false;
  run.events.Repeat(kChief, K::kDamaged);
}

INSTANTIATE_TEST_SUITE_P(
    Steps, SpoiledTrainingTest,
    testing::Values(
        SpoiledRun{"StepIsOfAnotherGeneration", UndisturbedRun,
                   "history-consistent/generation",
                   [](ScriptedRun& run) {
                     run.events.At(kChief, K::kStep).generation = 2;
                   }},
        SpoiledRun{"StepsBeforeItHasAState", RecoveredRun,
                   "history-consistent/generation",
                   [](ScriptedRun& run) {
                     run.events.Remove(kNextOther, K::kResumed);
                   }},
        SpoiledRun{"StepIsNotInTheReference", UndisturbedRun,
                   "trajectory/off-trajectory",
                   [](ScriptedRun& run) {
                     run.events.At(kChief, K::kStep, 7).step = 9;
                   }},
        SpoiledRun{
            "StepIsSkipped", RecoveredRun, "history-consistent/steps",
            [](ScriptedRun& run) { run.events.Remove(kNextOther, K::kStep); }},
        SpoiledRun{
            "StepIsRepeated", RecoveredRun, "history-consistent/steps",
            [](ScriptedRun& run) { run.events.Repeat(kNextOther, K::kStep); }},
        SpoiledRun{
            "StepIsSkipped_WithoutAReference", RunWithoutAReference,
            "history-consistent/steps",
            [](ScriptedRun& run) { run.events.Remove(kOther, K::kStep, 2); }},
        SpoiledRun{
            "StepHasAnotherState", RecoveredRun, "trajectory/state-digest",
            [](ScriptedRun& run) { StepSix(run).digest = kOtherDigest; }},
        SpoiledRun{"StepHasNoDigest", UndisturbedRun, "trajectory/state-digest",
                   [](ScriptedRun& run) {
                     run.events.At(kChief, K::kStep, 3).digest.clear();
                   }},
        SpoiledRun{"StepHasAnotherLoss", RecoveredRun, "trajectory/loss",
                   [](ScriptedRun& run) { StepSix(run).loss_bits ^= 1; }},
        SpoiledRun{"StepHasAnotherCount", RecoveredRun, "trajectory/loss",
                   [](ScriptedRun& run) { ++StepSix(run).count; }},
        SpoiledRun{"StepIsInAnotherEpoch", RecoveredRun, "trajectory/position",
                   [](ScriptedRun& run) { StepSix(run).epoch = 0; }},
        SpoiledRun{"StepIsAtAnotherSample", RecoveredRun, "trajectory/position",
                   [](ScriptedRun& run) { ++StepSix(run).position; }},
        SpoiledRun{
            "StepHasOtherBitsThanTheOthers", RecoveredRun,
            "replicas-agree/replica-mismatch",
            [](ScriptedRun& run) { StepSix(run).digest = kOtherDigest; }},
        SpoiledRun{"EpochHasOtherMetrics", RecoveredRun, "epochs/metrics",
                   [](ScriptedRun& run) {
                     run.events.At(kNextChief, K::kEpochEnd).count = 2;
                   }},
        SpoiledRun{"EpochHasAnotherNumber", UndisturbedRun,
                   "trajectory/position",
                   [](ScriptedRun& run) {
                     run.events.At(kChief, K::kEpochEnd, 1).epoch = 0;
                   }},
        SpoiledRun{"EpochNeverEnds", UndisturbedRun, "epochs/missing",
                   [](ScriptedRun& run) {
                     run.events.Remove(kChief, K::kEpochEnd, 1);
                     run.events.Remove(kOther, K::kEpochEnd, 1);
                   }},
        SpoiledRun{"NonFiniteStateIsReportedTwice", UndisturbedRun,
                   "history-consistent/twice",
                   [](ScriptedRun& run) {
                     FindNotFinite(run, 3);
                     run.events.Repeat(kOther, K::kNotFinite);
                   }},
        SpoiledRun{"FaultFiresForTheFirstTimeTwice", RecoveredRun,
                   "history-consistent/twice",
                   [](ScriptedRun& run) {
                     run.events.Repeat(kOther, K::kFaultFired);
                   }},
        SpoiledRun{"NonFiniteReportHasAnotherStep", NotFiniteRun,
                   "history-consistent/steps",
                   [](ScriptedRun& run) {
                     run.events.At(kOther, K::kNotFinite).step = 2;
                   }},
        SpoiledRun{"NonFiniteReportHasAnotherEpoch", NotFiniteRun,
                   "history-consistent/steps",
                   [](ScriptedRun& run) {
                     run.events.At(kOther, K::kNotFinite).epoch = 1;
                   }},
        SpoiledRun{"NonFiniteReportHasAnotherPhase", NotFiniteRun,
                   "history-consistent/steps",
                   [](ScriptedRun& run) {
                     run.events.At(kOther, K::kNotFinite).phase =
                         RecordPhase::kEvaluationDue;
                   }},
        SpoiledRun{"NonFiniteReportHasAnotherLoss", NotFiniteRun,
                   "trajectory/loss",
                   [](ScriptedRun& run) {
                     run.events.At(kOther, K::kNotFinite).loss_bits ^= 1;
                   }},
        SpoiledRun{
            "OneWorkerDoesNotReportNonFiniteState", NotFiniteRun,
            "history-consistent/not-finite",
            [](ScriptedRun& run) { run.events.Remove(kOther, K::kNotFinite); }},
        SpoiledRun{"SaveIsNonFiniteSinceAnotherStep", NotFiniteRun,
                   "history-consistent/not-finite",
                   [](ScriptedRun& run) {
                     run.events.At(kChief, K::kSaveAcknowledged, 1).count = 4;
                   }},
        SpoiledRun{"FinalStateIsNonFiniteSinceAnotherStep", NotFiniteRun,
                   "history-consistent/not-finite",
                   [](ScriptedRun& run) {
                     run.events.At(kOther, K::kFinished).count = 4;
                   }},
        SpoiledRun{"SaveFindsNonFiniteState_AndNoWorkerReportsIt",
                   UndisturbedRun, "history-consistent/not-finite",
                   [](ScriptedRun& run) {
                     run.events.At(kChief, K::kSaveAcknowledged, 2).count = 6;
                   }},
        SpoiledRun{"LoadsTwice", RecoveredRun, "history-consistent/twice",
                   [](ScriptedRun& run) {
                     run.events.Repeat(kNextOther, K::kLoaded);
                   }},
        SpoiledRun{"DetectsALossTwice", RecoveredRun,
                   "history-consistent/twice",
                   [](ScriptedRun& run) {
                     run.events.Repeat(kChief, K::kWorkerLost);
                   }},
        SpoiledRun{
            "LeavesTwice", RecoveredRun, "history-consistent/twice",
            [](ScriptedRun& run) { run.events.Repeat(kChief, K::kLeaving); }},
        SpoiledRun{"FaultDamagesAFileBeforeItFires", FellBackRun,
                   "history-consistent/point",
                   [](ScriptedRun& run) {
                     run.events.Remove(kChief, K::kFaultFired);
                   }},
        SpoiledRun{"FaultDamagesAFileInAnotherStep", FellBackRun,
                   "history-consistent/point",
                   [](ScriptedRun& run) {
                     run.events.At(kChief, K::kDamaged).step = 4;
                   }},
        SpoiledRun{"FaultDamagesAFileInAnotherEpoch", FellBackRun,
                   "history-consistent/point",
                   [](ScriptedRun& run) {
                     run.events.At(kChief, K::kDamaged).epoch = 1;
                   }},
        SpoiledRun{"FaultFiresAtAnotherPoint", RecoveredRun,
                   "history-consistent/point",
                   [](ScriptedRun& run) {
                     run.events.At(kOther, K::kFaultFired).path = "step.begin";
                   }},
        SpoiledRun{"FaultFiresBeforeItsStep", RecoveredRun,
                   "history-consistent/point",
                   [](ScriptedRun& run) { run.facts.faults[0].step = 7; }},
        SpoiledRun{"FaultFiresInAnotherEpoch", RecoveredRun,
                   "history-consistent/point",
                   [](ScriptedRun& run) { run.facts.faults[0].epoch = 0; }},
        SpoiledRun{"ErrorFiresBeforeItsStep", RecoveredRun,
                   "history-consistent/point",
                   [](ScriptedRun& run) {
                     run.facts.faults[0].kind = "errno";
                     run.facts.faults[0].step = 7;
                   }},
        SpoiledRun{"FaultFiresAfterTheNextStep", RecoveredRun,
                   "history-consistent/steps",
                   [](ScriptedRun& run) {
                     run.events.At(kOther, K::kFaultFired).step = 7;
                   }},
        SpoiledRun{"FaultFiresInALaterEpoch", RecoveredRun,
                   "history-consistent/steps",
                   [](ScriptedRun& run) {
                     run.events.At(kOther, K::kFaultFired).epoch = 2;
                   }},
        SpoiledRun{"LosesItself", RecoveredRun, "history-consistent/rank",
                   [](ScriptedRun& run) {
                     run.events.At(kChief, K::kWorkerLost).about = 0;
                   }},
        SpoiledRun{"LosesRankThatDoesNotExist", RecoveredRun,
                   "history-consistent/rank",
                   [](ScriptedRun& run) {
                     run.events.At(kChief, K::kWorkerLost).about = 2;
                   }},
        SpoiledRun{
            "LosesRankThatIsNoNeighbour", RunOfFour, "history-consistent/rank",
            [](ScriptedRun& run) {
              run.events.At(WorkerProcess(1, 1), K::kWorkerLost).about = 3;
            }},
        SpoiledRun{"LosesRankOfAnotherGeneration", RecoveredRun,
                   "history-consistent/generation",
                   [](ScriptedRun& run) {
                     run.events.At(kChief, K::kWorkerLost).generation = 2;
                   }},
        SpoiledRun{"LeavesAnotherGeneration", RecoveredRun,
                   "history-consistent/generation",
                   [](ScriptedRun& run) {
                     run.events.At(kChief, K::kLeaving).generation = 2;
                   }},
        SpoiledRun{"RejoinsFromAnotherGeneration", RejoinedRun,
                   "history-consistent/generation",
                   [](ScriptedRun& run) {
                     run.events.At(kChief, K::kLeft).generation = 2;
                   }},
        SpoiledRun{
            "RejoinsFromAGenerationTwice", RejoinedRun,
            "history-consistent/generation",
            [](ScriptedRun& run) { run.events.Repeat(kChief, K::kLeft); }},
        SpoiledRun{"ReceivesNoticeInAnotherGeneration", PreemptedRun,
                   "history-consistent/generation",
                   [](ScriptedRun& run) {
                     run.events.At(kChief, K::kNotice).generation = 2;
                   }},
        SpoiledRun{"ReceivesNoticeInAnotherStep", PreemptedRun,
                   "history-consistent/steps",
                   [](ScriptedRun& run) {
                     run.events.At(kChief, K::kNotice).step = 3;
                   }},
        SpoiledRun{"IsSupersededInAnotherGeneration", UndisturbedRun,
                   "history-consistent/generation",
                   [](ScriptedRun& run) {
                     run.events.InsertBefore(
                         kChief, K::kWorkerExited, 0, kChief,
                         {.kind = K::kFencedOut, .generation = 2});
                   }},
        SpoiledRun{"FaultFiresAgainBeforeItsFirstTime", RecoveredRun,
                   "history-consistent/twice",
                   [](ScriptedRun& run) {
                     run.events.At(kOther, K::kFaultFired).kind =
                         K::kFaultAgain;
                   }}),
    NameOfCase<SpoiledRun>);

INSTANTIATE_TEST_SUITE_P(
    Steps, ExcusedTrainingTest,
    testing::Values(
        ExcusedRun{
            "FaultFiresAlways", FellBackRun, "history-consistent/twice",
            DamageTwice,
            [](ScriptedRun& run) { run.facts.faults.back().always = true; }},
        ExcusedRun{"FaultFiresTwiceInARow", FellBackRun,
                   "history-consistent/twice", DamageTwice,
                   [](ScriptedRun& run) { run.facts.faults.back().hits = 2; }},
        ExcusedRun{"FaultDamagesTwoFiles", FellBackRun,
                   "history-consistent/twice", DamageTwice,
                   [](ScriptedRun& run) {
                     run.events.At(kChief, K::kDamaged).path += ".other";
                   }},
        ExcusedRun{
            "ErrorWaitsForAnOperation", RecoveredRun,
            "history-consistent/point",
            [](ScriptedRun& run) { run.facts.faults[0].step = 5; },
            [](ScriptedRun& run) { run.facts.faults[0].kind = "errno"; }},
        ExcusedRun{
            "LossIsDetectedInTwoWays", RecoveredRun, "history-consistent/twice",
            [](ScriptedRun& run) { run.events.Repeat(kChief, K::kWorkerLost); },
            [](ScriptedRun& run) {
              run.events.At(kChief, K::kWorkerLost).reason =
                  RecordReason::kSilent;
            }}),
    NameOfCase<ExcusedRun>);

INSTANTIATE_TEST_SUITE_P(
    Steps, LawfulTrainingTest,
    testing::Values(LawfulRun{"NonFiniteStateIsReportedOnce", NotFiniteRun,
                              [](ScriptedRun&) {}},
                    LawfulRun{"SaveFindsNonFiniteState",
                              RunWithASaveThatIsNotFinite, [](ScriptedRun&) {}},
                    LawfulRun{"EachLosesTheChiefOrANeighbour", RunOfFour,
                              [](ScriptedRun&) {}},
                    LawfulRun{"FaultFiresAsPlanned", RecoveredRun,
                              [](ScriptedRun& run) {
                                run.facts.faults[0].step = 6;
                                run.facts.faults[0].epoch = 1;
                              }},
                    LawfulRun{"FaultFiresAgain", FellBackRun,
                              [](ScriptedRun& run) {
                                RecordEvent again =
                                    run.events.At(kChief, K::kFaultFired);
                                again.kind = K::kFaultAgain;
                                run.events.InsertAfter(kChief, K::kFaultFired,
                                                       0, kChief, again);
                              }},
                    LawfulRun{"ReferenceLacksSomeDigests", UndisturbedRun,
                              [](ScriptedRun& run) {
                                for (GoldenEntry& entry :
                                     run.facts.golden.entries) {
                                  if (entry.step == 2) entry.digest.clear();
                                }
                              }},
                    LawfulRun{"WithoutAReference", RunWithoutAReference,
                              [](ScriptedRun&) {}}),
    NameOfCase<LawfulRun>);

INSTANTIATE_TEST_SUITE_P(
    Rows, SpoiledTrainingTest,
    testing::Values(
        SpoiledRun{"SamplesAreMissing", UndisturbedRun, "samples/other-rows",
                   [](ScriptedRun& run) {
                     run.events.At(kChief, K::kStep, 1).samples = {};
                   }},
        SpoiledRun{"SamplesAreOfNoStep", UndisturbedRun, "samples/other-rows",
                   [](ScriptedRun& run) {
                     run.events.At(kChief, K::kStep, 1).samples = {90, 91};
                   }},
        SpoiledRun{"SamplesAreOfAnotherStep", RecoveredRun,
                   "samples/other-rows",
                   [](ScriptedRun& run) {
                     StepSix(run).samples = {0, 1};
                   }},
        SpoiledRun{"SampleIsRepeated", UndisturbedRun, "samples/other-rows",
                   [](ScriptedRun& run) {
                     auto& rows = run.events.At(kChief, K::kStep, 1).samples;
                     rows.back() = rows.front();
                   }},
        SpoiledRun{"InterruptedStepHasOtherSamples", RejoinedRun,
                   "samples/other-rows",
                   [](ScriptedRun& run) {
                     run.events.At(kChief, K::kStep, 5).samples = {0, 1};
                   }},
        SpoiledRun{
            "SamplesAreMissingInAnEarlierStep", RejoinedRun,
            "samples/other-rows",
            [](ScriptedRun& run) { run.events.Remove(kOther, K::kStep, 4); }},
        SpoiledRun{
            "SamplesAreMissingInTheLastGeneration", UndisturbedRun,
            "samples/other-rows",
            [](ScriptedRun& run) { run.events.Remove(kOther, K::kStep, 4); }},
        SpoiledRun{"ReferenceRepeatsASample", UndisturbedRun,
                   "samples/duplicate-sample",
                   [](ScriptedRun& run) {
                     auto& rows = run.facts.golden.entries[2].samples;
                     rows.back() = rows.front();
                   }},
        SpoiledRun{"ReferenceLacksASample", UndisturbedRun, "samples/missing",
                   [](ScriptedRun& run) { ++run.facts.setup.rows_per_epoch; }}),
    NameOfCase<SpoiledRun>);

// Removes a sample from the reference run's last step.
void LeaveOutARow(ScriptedRun& run) {
  for (GoldenEntry& entry : run.facts.golden.entries) {
    if (entry.step == kLastStep && !entry.samples.empty()) {
      entry.samples.pop_back();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Rows, ExcusedTrainingTest,
    testing::Values(ExcusedRun{"EpochIsNotCounted", UndisturbedRun,
                               "samples/missing", LeaveOutARow,
                               [](ScriptedRun& run) {
                                 run.facts.launchers[0].result->epochs = 1;
                               }},
                    ExcusedRun{"SamplesPerEpochAreUnknown", UndisturbedRun,
                               "samples/missing", LeaveOutARow,
                               [](ScriptedRun& run) {
                                 run.facts.setup.rows_per_epoch = 0;
                               }}),
    NameOfCase<ExcusedRun>);

INSTANTIATE_TEST_SUITE_P(
    Rows, LawfulTrainingTest,
    testing::Values(LawfulRun{"SamplesAreInAnotherOrder", UndisturbedRun,
                              [](ScriptedRun& run) {
                                std::ranges::reverse(
                                    run.events.At(kChief, K::kStep, 1).samples);
                              }},
                    LawfulRun{
                        "InterruptedStepHasNoSamples", RejoinedRun,
                        [](ScriptedRun& run) {
                          run.events.At(kChief, K::kStep, 5).samples.clear();
                        }},
                    LawfulRun{"NoSamplesAreRecorded", UndisturbedRun,
                              [](ScriptedRun& run) {
                                for (EmittedEvent& one : run.events.all()) {
                                  one.event.samples.clear();
                                }
                              }}),
    NameOfCase<LawfulRun>);

void SkipSaveOfStepFour(ScriptedRun& run) {
  run.events.Remove(kChief, K::kSaveBegin, 1);
  run.events.Remove(kChief, K::kSaveAcknowledged, 1);
}

// Lets all workers rejoin while step 6 is being saved, and not save it again.
void RejoinWithoutASave(ScriptedRun& run) {
  BeginStaleSave(run);
  run.events.Remove(kChief, K::kSaveBegin, 3);
  run.events.Remove(kChief, K::kSaveAcknowledged, 2);
}

INSTANTIATE_TEST_SUITE_P(
    Saves, SpoiledTrainingTest,
    testing::Values(
        SpoiledRun{"DueSaveIsMissing", UndisturbedRun,
                   "bounded-loss/excess-rework", SkipSaveOfStepFour},
        SpoiledRun{
            "SavesAreTooRare", UndisturbedRun, "bounded-loss/excess-rework",
            [](ScriptedRun& run) { run.facts.setup.save_interval_steps = 1; }},
        SpoiledRun{"DueSaveIsMissing_AfterAResume", RecoveredRun,
                   "bounded-loss/excess-rework",
                   [](ScriptedRun& run) {
                     run.events.Remove(kNextChief, K::kSaveBegin);
                     run.events.Remove(kNextChief, K::kSaveAcknowledged);
                   }},
        SpoiledRun{"StateIsCopiedTwice", AsynchronousRun, "store/copy",
                   [](ScriptedRun& run) {
                     run.events.Repeat(kOther, K::kSaveCopied);
                   }},
        SpoiledRun{"AnotherStepIsCopied", AsynchronousRun, "store/copy",
                   [](ScriptedRun& run) {
                     run.events.At(kOther, K::kSaveCopied).step = 1;
                   }},
        SpoiledRun{"OneWorkerMakesNoCopy", AsynchronousRun, "store/copy",
                   [](ScriptedRun& run) {
                     run.events.Remove(kOther, K::kSaveCopied, 1);
                   }},
        SpoiledRun{"TrainsBeforeTheCopy", AsynchronousRun, "store/no-outcome",
                   [](ScriptedRun& run) {
                     run.events.Remove(kChief, K::kSaveCopied);
                   }},
        SpoiledRun{"TrainsDuringASave", UndisturbedRun, "store/no-outcome",
                   [](ScriptedRun& run) {
                     run.events.MoveAfter(kChief, K::kSaveAcknowledged, kChief,
                                          K::kStep, 2);
                   }},
        SpoiledRun{"SaveHasAnotherStepThanTheWorker", UndisturbedRun,
                   "store/wrong-save-position",
                   [](ScriptedRun& run) {
                     run.events.At(kChief, K::kSaveBegin).step = 1;
                   }},
        SpoiledRun{"SaveHasAnotherPhaseThanTheWorker", UndisturbedRun,
                   "store/wrong-save-position",
                   [](ScriptedRun& run) {
                     run.events.At(kChief, K::kSaveBegin, 1).phase =
                         RecordPhase::kInEpoch;
                   }},
        SpoiledRun{
            "SaveHasAnotherState", UndisturbedRun, "trajectory/state-digest",
            [](ScriptedRun& run) {
              run.events.At(kChief, K::kSaveAcknowledged).digest = kOtherDigest;
            }},
        SpoiledRun{"SaveHasTheStateOfAnotherPhase", TwoPhasesRun,
                   "trajectory/state-digest",
                   [](ScriptedRun& run) {
                     run.events.At(kNextChief, K::kSaveAcknowledged).digest =
                         DigestAt(4, RecordPhase::kEvaluationDue);
                   }},
        SpoiledRun{"SaveHasAStepThatTheReferenceLacks", UndisturbedRun,
                   "trajectory/off-trajectory",
                   [](ScriptedRun& run) {
                     run.events.At(kChief, K::kSaveAcknowledged).step = 99;
                   }}),
    NameOfCase<SpoiledRun>);

INSTANTIATE_TEST_SUITE_P(
    Saves, ExcusedTrainingTest,
    testing::Values(
        ExcusedRun{"SaveFailed", UndisturbedRun, "bounded-loss/excess-rework",
                   SkipSaveOfStepFour,
                   [](ScriptedRun& run) {
                     run.events.InsertAfter(
                         kChief, K::kStep, 3, kChief,
                         {.kind = K::kSaveFailed, .generation = 1, .step = 4});
                   }},
        ExcusedRun{"InterruptedSaveIsTheParent_AfterARejoin", RejoinedRun,
                   "bounded-loss/excess-rework", RejoinWithoutASave,
                   [](ScriptedRun& run) {
                     run.events.At(kChief, K::kGeneration, 1).path =
                         PathOfSave(6, 1);
                   }},
        ExcusedRun{"InterruptedSaveFailed", RejoinedRun,
                   "bounded-loss/excess-rework", RejoinWithoutASave,
                   [](ScriptedRun& run) {
                     run.events.InsertBefore(kChief, K::kWorkerLost, 0, kChief,
                                             StaleSave(K::kSaveFailed));
                   }},
        ExcusedRun{"NoSaveWasUnderWay", RejoinedRun,
                   "bounded-loss/excess-rework", RejoinWithoutASave,
                   [](ScriptedRun& run) {
                     run.events.Remove(kChief, K::kSaveBegin, 2);
                   }},
        ExcusedRun{
            "NoSaveIntervalInSteps", UndisturbedRun,
            "bounded-loss/excess-rework", SkipSaveOfStepFour,
            [](ScriptedRun& run) { run.facts.setup.save_interval_steps = 0; }},
        ExcusedRun{
            "CopyFailsWithADiskError", AsynchronousRun, "store/no-outcome",
            [](ScriptedRun& run) { run.events.Remove(kChief, K::kSaveCopied); },
            [](ScriptedRun& run) {
              FireBefore(run, kChief, K::kSaveBegin, 0, DiskError());
              FireBefore(run, kChief, K::kSaveBegin, 0,
                         {.id = "slow", .kind = "slow"});
            }}),
    NameOfCase<ExcusedRun>);

}  // namespace
}  // namespace gauntlet
