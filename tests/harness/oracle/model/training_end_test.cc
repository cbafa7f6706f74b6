// Ends of training: agreed stops, finished runs, last saves that are given up,
// and results.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/oracle/judge.h"
#include "harness/oracle/model/training_model.h"
#include "tests/harness/oracle/spoiled_run.h"

namespace gauntlet {
namespace {

using K = RecordKind;

class SpoiledEndTest : public testing::TestWithParam<SpoiledRun> {};
class LawfulEndTest : public testing::TestWithParam<LawfulRun> {};

TEST_P(SpoiledEndTest, IsFound) { ExpectFinding(GetParam()); }
TEST_P(LawfulEndTest, HasNoFinding) { ExpectLawful(GetParam()); }

FinalResult& Result(ScriptedRun& run) {
  return *run.facts.launchers.back().result;
}

void StopEarlier(ScriptedRun& run) {
  run.events.Remove(kOther, K::kStep, 4);
  run.events.At(kOther, K::kStopAgreed).step = 4;
}

INSTANTIATE_TEST_SUITE_P(
    Stops, SpoiledEndTest,
    testing::Values(
        SpoiledRun{"AgreesOnAnotherStepThanItsState", PreemptedRun,
                   "grace/not-one-step",
                   [](ScriptedRun& run) {
                     run.events.At(kOther, K::kStopAgreed).step = 4;
                   }},
        SpoiledRun{"AgreesOnAnotherEpochThanItsState", PreemptedRun,
                   "grace/not-one-step",
                   [](ScriptedRun& run) {
                     run.events.At(kOther, K::kStopAgreed).epoch = 0;
                   }},
        SpoiledRun{"AgreesTwice", PreemptedRun, "grace/not-one-step",
                   [](ScriptedRun& run) {
                     run.events.Repeat(kOther, K::kStopAgreed);
                   }},
        SpoiledRun{"AgreesOnAnotherStepThanTheOthers", PreemptedRun,
                   "grace/not-one-step", StopEarlier},
        SpoiledRun{
            "TrainsAfterTheAgreedStop", PreemptedRun, "grace/not-one-step",
            [](ScriptedRun& run) {
              run.events.InsertAfter(kOther, K::kStopAgreed, 0, kChief,
                                     run.events.At(kNextChief, K::kStep));
              run.events.At(kChief, K::kStep, 5).generation = 1;
            }},
        SpoiledRun{"StopsWithoutAnAgreement", PreemptedRun,
                   "history-consistent/end",
                   [](ScriptedRun& run) {
                     run.events.Remove(kOther, K::kStopAgreed);
                   }}),
    NameOfCase<SpoiledRun>);

INSTANTIATE_TEST_SUITE_P(
    Finishes, SpoiledEndTest,
    testing::Values(
        SpoiledRun{
            "FinishesTwice", UndisturbedRun, "history-consistent/twice",
            [](ScriptedRun& run) { run.events.Repeat(kOther, K::kFinished); }},
        SpoiledRun{
            "FinishesAtAnotherStep", UndisturbedRun, "trajectory/final-state",
            [](ScriptedRun& run) {
              RecordEvent& finished = run.events.At(kOther, K::kFinished);
              finished.step = 7;
              finished.digest = DigestAt(7);
            }},
        SpoiledRun{"FinishesAfterAnotherEpoch", UndisturbedRun,
                   "trajectory/final-state",
                   [](ScriptedRun& run) {
                     run.events.At(kOther, K::kFinished).epoch = 1;
                   }},
        SpoiledRun{"FinishesBeforeTheLastEpochEnds", UndisturbedRun,
                   "trajectory/final-state",
                   [](ScriptedRun& run) {
                     run.events.Remove(kOther, K::kEpochEnd, 1);
                   }},
        SpoiledRun{"FinishesWithAnotherState", UndisturbedRun,
                   "trajectory/state-digest",
                   [](ScriptedRun& run) {
                     run.events.At(kOther, K::kFinished).digest = kOtherDigest;
                   }},
        SpoiledRun{"FinishesWithOtherBitsThanTheOthers", UndisturbedRun,
                   "replicas-agree/replica-mismatch",
                   [](ScriptedRun& run) {
                     run.events.At(kOther, K::kFinished).digest = kOtherDigest;
                   }},
        SpoiledRun{
            "NeverFinishes", UndisturbedRun, "history-consistent/end",
            [](ScriptedRun& run) { run.events.Remove(kOther, K::kFinished); }},
        SpoiledRun{"FinishesBeforeItsLastGeneration", RejoinedRun,
                   "history-consistent/end",
                   [](ScriptedRun& run) {
                     run.events.Remove(kChief, K::kFinished);
                     run.events.InsertBefore(
                         kChief, K::kLeft, 0, kChief,
                         {.kind = K::kFinished, .generation = 1});
                   }},
        SpoiledRun{"ResultIsAcknowledgedTwice", DeletedRun,
                   "history-consistent/twice",
                   [](ScriptedRun& run) {
                     run.events.Repeat(kChief, K::kResultAcknowledged);
                   }},
        SpoiledRun{"DeletesBeforeTheOthersFinish", DeletedRun,
                   "checkpoints-deleted/deleted",
                   [](ScriptedRun& run) {
                     run.events.MoveAfter(kOther, K::kFinished, kChief,
                                          K::kDeleteBegin);
                   }},
        SpoiledRun{"DeletesBeforeTheResultIsAcknowledged", DeletedRun,
                   "checkpoints-deleted/unacknowledged",
                   [](ScriptedRun& run) {
                     run.events.MoveAfter(kChief, K::kResultAcknowledged,
                                          kChief, K::kDeleteBegin);
                   }}),
    NameOfCase<SpoiledRun>);

// Returns a run whose first launch ends early, as planned; the second one
// finishes.
ScriptedRun RunInTwoLaunches(const PlannedLaunch& first, uint64_t step) {
  ScriptedRun run;
  run.facts.setup.launches = {first, {.epochs = kEpochs}};
  run.LaunchAll();
  run.Claim();
  run.Initialize();
  run.TrainTo(step);
  if (first.stop_at_step > 0) {
    run.StopAgreed();
    run.Save();
    run.SendResult();
    for (const int worker : {0, 1}) run.Exit(worker, 143);
    run.EndLauncher(143, "stopped");
  } else {
    run.Finish();
  }
  const TrainingPosition reached = run.position();
  run.LaunchAll();
  run.facts.launchers.back().planned = 1;
  run.Claim(NameOfSave(reached, 1));
  run.Resume(NameOfSave(reached, 1), reached);
  run.TrainTo(kLastStep);
  run.Finish();
  return run;
}

ScriptedRun RunOfOneEpoch() { return RunInTwoLaunches({.epochs = 1}, 4); }
ScriptedRun RunOfFiveSteps() {
  return RunInTwoLaunches({.epochs = kEpochs, .max_steps = 5}, 5);
}
ScriptedRun RunThatStopsAtStepThree() {
  return RunInTwoLaunches({.epochs = kEpochs, .stop_at_step = 3}, 3);
}

void SetExitCodeOfLauncher(ScriptedRun& run, int exit_code) {
  run.facts.launchers.back().exit_code = exit_code;
  run.events.At(LauncherProcess(1), K::kLauncherEnd).count = exit_code;
}

// Returns a run whose first launch trains its epoch, and fails while it ends.
ScriptedRun RunThatFailsBeforeItsSecondLaunch() {
  ScriptedRun run;
  run.facts.setup.launches = {{.epochs = 1}, {.epochs = kEpochs}};
  run.LaunchAll();
  run.Claim();
  run.Initialize();
  run.TrainTo(4);
  run.Finish();
  SetExitCodeOfLauncher(run, 1);
  return run;
}

PlannedLaunch& FirstLaunch(ScriptedRun& run) {
  return run.facts.setup.launches[0];
}

INSTANTIATE_TEST_SUITE_P(
    Launches, SpoiledEndTest,
    testing::Values(
        SpoiledRun{"EndsBeforeItsEpochs", RunOfOneEpoch,
                   "trajectory/final-state",
                   [](ScriptedRun& run) { FirstLaunch(run).epochs = 2; }},
        SpoiledRun{"EndsAfterItsLastEpoch", RunOfFiveSteps,
                   "trajectory/final-state",
                   [](ScriptedRun& run) { FirstLaunch(run) = {.epochs = 1}; }},
        SpoiledRun{"NextLaunchIsMissing", RunThatFailsBeforeItsSecondLaunch,
                   "history-consistent/missing-steps",
                   [](ScriptedRun& run) { SetExitCodeOfLauncher(run, 0); }},
        SpoiledRun{"FailsBeforeItsEpochsEnd", RunThatFailsBeforeItsSecondLaunch,
                   "epochs/count",
                   [](ScriptedRun& run) { FirstLaunch(run).epochs = 2; }},
        SpoiledRun{"EndsBeforeItsSteps", RunOfFiveSteps,
                   "trajectory/final-state",
                   [](ScriptedRun& run) { FirstLaunch(run).max_steps = 6; }},
        SpoiledRun{
            "TrainsAfterItsStop", RunThatStopsAtStepThree, "grace/not-one-step",
            [](ScriptedRun& run) { FirstLaunch(run).stop_at_step = 2; }}),
    NameOfCase<SpoiledRun>);

INSTANTIATE_TEST_SUITE_P(
    Launches, LawfulEndTest,
    testing::Values(
        LawfulRun{"EndsWithItsEpochs", RunOfOneEpoch, [](ScriptedRun&) {}},
        LawfulRun{"EndsWithItsSteps", RunOfFiveSteps, [](ScriptedRun&) {}},
        LawfulRun{"FailsAfterItsEpochs", RunThatFailsBeforeItsSecondLaunch,
                  [](ScriptedRun&) {}},
        LawfulRun{"StopsAsPlanned", RunThatStopsAtStepThree,
                  [](ScriptedRun&) {}},
        LawfulRun{"TrainsToTheEndOfAnExecution", RunThatStopsAtStepThree,
                  [](ScriptedRun& run) {
                    FirstLaunch(run).stop_at_step = 2;
                    run.facts.setup.steps_per_execution = 3;
                  }},
        LawfulRun{"StartsAfterItsStop", RunThatStopsAtStepThree,
                  [](ScriptedRun& run) {
                    run.facts.setup.launches[1].stop_at_step = 3;
                  }}),
    NameOfCase<LawfulRun>);

// Returns a run in which a state is not finite, and all workers stop because of
// it.
ScriptedRun RunStoppedOnNan() {
  constexpr int64_t kNotFinite = 9;
  ScriptedRun run;
  run.LaunchAll();
  run.Claim();
  run.Initialize();
  run.TrainTo(3);
  FindNotFinite(run, 3);
  run.SendResult();
  for (const int worker : {0, 1}) run.Exit(worker, kNotFinite);
  run.EndLauncher(kNotFinite, "not_finite");
  run.facts.expect.outcome = Outcome::kStopsOnNan;
  return run;
}

INSTANTIATE_TEST_SUITE_P(
    NotFinite, SpoiledEndTest,
    testing::Values(SpoiledRun{"OneWorkerDoesNotDetectIt", RunStoppedOnNan,
                               "history-consistent/end",
                               [](ScriptedRun& run) {
                                 run.events.Remove(kOther, K::kNotFinite);
                               }},
                    SpoiledRun{
                        "ResultIsOfAnotherStep", RunStoppedOnNan,
                        "trajectory/result",
                        [](ScriptedRun& run) { Result(run).steps = 2; }}),
    NameOfCase<SpoiledRun>);

INSTANTIATE_TEST_SUITE_P(NotFinite, LawfulEndTest,
                         testing::Values(LawfulRun{"AllWorkersStop",
                                                   RunStoppedOnNan,
                                                   [](ScriptedRun&) {}}),
                         NameOfCase<LawfulRun>);

// Returns a run whose disk stays full at the save of that step, try after try:
// all workers leave with the code for a later start.
ScriptedRun RunWithoutRoomFor(uint64_t step) {
  constexpr int kTries = 6;
  constexpr int64_t kStartLater = 74;
  ScriptedRun run;
  run.LaunchAll();
  run.Claim();
  run.Initialize();
  run.TrainTo(step);
  if (step < kLastStep) {
    run.SeeNotice(0);
    run.StopAgreed();
  }
  const std::string name = NameOfSave(run.position(), 1);
  run.Fire(0, {.id = "full",
               .kind = "errno",
               .point = "ckpt.shard.write",
               .always = true});
  for (int i = 0; i < kTries; ++i) {
    run.BeginSave();
    run.events.Append(kChief, {.kind = K::kSaveFailed,
                               .generation = 1,
                               .step = step,
                               .path = "/ckpt/" + name,
                               .reason = RecordReason::kDiskFull});
  }
  for (const int worker : {0, 1}) {
    run.Exit(worker, kStartLater, RecordReason::kDiskFull, step);
  }
  run.EndLauncher(75);
  run.facts.expect.outcome = Outcome::kRetryLater;
  return run;
}

ScriptedRun RunWithoutRoom() { return RunWithoutRoomFor(kLastStep); }
ScriptedRun RunStoppedWithoutRoom() { return RunWithoutRoomFor(5); }

void ExitWith(ScriptedRun& run, int64_t exit_code) {
  for (EmittedEvent& one : run.events.all()) {
    if (one.event.count == 74) one.event.count = exit_code;
  }
}

INSTANTIATE_TEST_SUITE_P(
    LastSaves, SpoiledEndTest,
    testing::Values(
        SpoiledRun{"GivenUpEarly", RunWithoutRoom,
                   "no-spontaneous-exit/given-up-early",
                   [](ScriptedRun& run) {
                     run.events.Remove(kChief, K::kSaveBegin, 4);
                     run.events.Remove(kChief, K::kSaveFailed);
                   }},
        SpoiledRun{"GivenUpAtAnotherStep", RunWithoutRoom,
                   "no-spontaneous-exit/given-up-early",
                   [](ScriptedRun& run) {
                     run.events.At(kChief, K::kWorkerExited).step = 7;
                   }},
        SpoiledRun{"GivenUpWithoutAnAgreedStop", RunStoppedWithoutRoom,
                   "history-consistent/end",
                   [](ScriptedRun& run) {
                     run.events.Remove(kOther, K::kStopAgreed);
                   }},
        SpoiledRun{"ExitsWithRestartCode_IfTheDiskIsFull", RunWithoutRoom,
                   "no-spontaneous-exit/unexplained-exit",
                   [](ScriptedRun& run) { ExitWith(run, 75); }},
        SpoiledRun{"GivenUp_ThoughTheDiskHasRoom", RunWithoutRoom,
                   "no-spontaneous-exit/unexplained-exit",
                   [](ScriptedRun& run) {
                     run.facts.faults[0].kind = "wall_clock_jump";
                   }},
        SpoiledRun{"Restarted_ThoughTheDiskIsFull", RunWithoutRoom,
                   "no-spontaneous-exit/restarted",
                   [](ScriptedRun& run) {
                     run.events.InsertBefore(
                         LauncherProcess(1), K::kLauncherEnd, 0,
                         LauncherProcess(1),
                         {.kind = K::kRestarting, .count = 1, .about = 0});
                   }}),
    NameOfCase<SpoiledRun>);

INSTANTIATE_TEST_SUITE_P(
    LastSaves, LawfulEndTest,
    testing::Values(LawfulRun{"GivenUpAfterAllTries", RunWithoutRoom,
                              [](ScriptedRun&) {}},
                    LawfulRun{"GivenUpAtAnAgreedStop", RunStoppedWithoutRoom,
                              [](ScriptedRun&) {}}),
    NameOfCase<LawfulRun>);

INSTANTIATE_TEST_SUITE_P(
    Results, SpoiledEndTest,
    testing::Values(
        SpoiledRun{"ResultIsOfAnotherState", UndisturbedRun,
                   "trajectory/final-state",
                   [](ScriptedRun& run) { Result(run).digest = kOtherDigest; }},
        SpoiledRun{"ResultHasMoreSteps", UndisturbedRun,
                   "history-consistent/extra-steps",
                   [](ScriptedRun& run) { Result(run).steps = 9; }},
        SpoiledRun{"ResultHasAStepThatNoWorkerTrained", UndisturbedRun,
                   "history-consistent/step-count",
                   [](ScriptedRun& run) {
                     run.events.Remove(kChief, K::kStep, 6);
                     run.events.Remove(kOther, K::kStep, 6);
                   }},
        SpoiledRun{"ResultHasAnotherStatus", UndisturbedRun,
                   "trajectory/result",
                   [](ScriptedRun& run) { Result(run).status = "not_finite"; }},
        SpoiledRun{"ResultIsOfAnEarlierState", UndisturbedRun,
                   "trajectory/result",
                   [](ScriptedRun& run) { Result(run).digest = DigestAt(7); }},
        SpoiledRun{
            "ReceivedResultIsOfAnotherStep", UndisturbedRun,
            "trajectory/result",
            [](ScriptedRun& run) {
              run.events.At(LauncherProcess(1), K::kResultReceived).step = 7;
            }},
        SpoiledRun{"ResultCountsAnUnfinishedEpoch", TwoPhasesRun,
                   "trajectory/result",
                   [](ScriptedRun& run) {
                     run.facts.launchers[0].result->epochs = 1;
                   }},
        SpoiledRun{"ResultOfAStopHasTheStatusDone", PreemptedRun,
                   "trajectory/result",
                   [](ScriptedRun& run) {
                     run.facts.launchers[0].result->status = "done";
                   }},
        SpoiledRun{"AcknowledgementIsOfAnotherEpoch", DeletedRun,
                   "history-consistent/steps",
                   [](ScriptedRun& run) {
                     run.events.At(kChief, K::kResultAcknowledged).epoch = 1;
                   }},
        SpoiledRun{"ResultHasMoreEpochs", UndisturbedRun, "epochs/count",
                   [](ScriptedRun& run) { Result(run).epochs = 3; }},
        SpoiledRun{"ResultHasAnotherLoss", UndisturbedRun, "trajectory/result",
                   [](ScriptedRun& run) { Result(run).loss_bits ^= 1; }}),
    NameOfCase<SpoiledRun>);

}  // namespace
}  // namespace gauntlet
