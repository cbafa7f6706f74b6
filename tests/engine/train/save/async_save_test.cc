// Asynchronous saves in the simulated world, with disks that are slow, full or
// missing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/train/save/one_error_in_a_save.h"
#include "tests/engine/train/training_fixture.h"

namespace gauntlet {
namespace {

using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::Ge;
using testing::HasSubstr;
using testing::Le;

TrainOptions AsyncRun(SaveMode mode) {
  TrainOptions options = SmallRun();
  options.checkpoint.mode = mode;
  return options;
}

Fault SlowFault(int worker, Point point, Duration latency) {
  return {.id = "slow",
          .site = {.worker = worker, .point = point},
          .kind = FaultKind::kSlow,
          .with = {.times = FaultTimes::kAlways, .latency = latency}};
}

// Makes a save slower than the steps until the next save.
FaultPlan SlowDisk() {
  return {.faults = {SlowFault(kAllWorkers, Point::kShardOpen,
                               std::chrono::milliseconds(500))}};
}

Fault CrashAt(int worker, const FaultSite& where) {
  Fault fault = {.id = "crash", .site = where, .kind = FaultKind::kCrash};
  fault.site.worker = worker;
  return fault;
}

class AsyncSaveTest : public testing::TestWithParam<SaveMode> {};

INSTANTIATE_TEST_SUITE_P(Modes, AsyncSaveTest,
                         testing::Values(SaveMode::kAsync, SaveMode::kZeroCopy),
                         [](const auto& mode) {
                           return mode.param == SaveMode::kAsync ? "async"
                                                                 : "zero_copy";
                         });

std::vector<EventKind> KindsOf(const AttemptResult& outcome, size_t rank = 0) {
  std::vector<EventKind> kinds;
  for (const LogEvent& event : outcome.events[rank]) {
    kinds.push_back(event.kind);
  }
  return kinds;
}

// Returns the last step before the event of that kind about the save of step
// `save`.
uint64_t StepAt(const AttemptResult& outcome, EventKind kind, uint64_t save) {
  uint64_t step = 0;
  for (const LogEvent& event : outcome.events[0]) {
    if (event.kind == EventKind::kStep) step = event.step;
    if (event.kind == kind && event.step == save) return step;
  }
  ADD_FAILURE() << "no such event of step " << save;
  return 0;
}

TEST_P(AsyncSaveTest, AnyNumberOfWorkersReachesTheStateOfARunWithoutSaves) {
  const std::string golden = UndisturbedDigest(SmallRun());
  for (const int workers : {1, 2, 4}) {
    const AttemptResult outcome =
        TrainingFixture().Run(workers, AsyncRun(GetParam()));
    EXPECT_TRUE(outcome.AllExitedWith(WorkerExit::kDone)) << outcome.reasons[0];
    EXPECT_EQ(outcome.result->digest, golden);
    EXPECT_THAT(outcome.StepsOf(EventKind::kSaveAcknowledged),
                ElementsAre(5, 10, 15, 20, 24));
  }
}

TEST_P(AsyncSaveTest, TimesAndKindsOfSavesChangeNoBits) {
  const std::string golden = UndisturbedDigest(SmallRun());
  for (const SaveTrigger& trigger :
       {SaveTrigger{.unit = SaveUnit::kSteps, .every = 1},
        SaveTrigger{.unit = SaveUnit::kSeconds, .every = 1},
        SaveTrigger{.unit = SaveUnit::kEpochs, .every = 2},
        SaveTrigger{.unit = SaveUnit::kNone}}) {
    for (const uint64_t execution : {1, 4}) {
      TrainOptions options = AsyncRun(GetParam());
      options.checkpoint.trigger = trigger;
      options.steps_per_execution = execution;
      FaultPlan plan = SlowDisk();
      plan.faults.push_back(
          SlowFault(0, Point::kStepBegin, std::chrono::milliseconds(200)));
      plan.faults.back().id = "heavy";
      const AttemptResult outcome = TrainingFixture().Run(2, options, plan);
      EXPECT_TRUE(outcome.AllExitedWith(WorkerExit::kDone))
          << outcome.reasons[0];
      ASSERT_TRUE(outcome.result);
      EXPECT_EQ(outcome.result->digest, golden);
      EXPECT_EQ(outcome.StepsOf(EventKind::kSaveAcknowledged).back(), kSteps);
      EXPECT_TRUE(outcome.StepsOf(EventKind::kSaveFailed).empty());
    }
  }
}

TEST_P(AsyncSaveTest, TrainingContinuesWhileASaveIsWritten) {
  const AttemptResult outcome =
      TrainingFixture().Run(2, AsyncRun(GetParam()), SlowDisk());
  EXPECT_TRUE(outcome.AllExitedWith(WorkerExit::kDone));
  EXPECT_EQ(StepAt(outcome, EventKind::kSaveCopied, 5), 5u);
  EXPECT_GE(StepAt(outcome, EventKind::kSaveAcknowledged, 5), 7u);
}

TEST_P(AsyncSaveTest, SaveThatIsDueWaitsForTheOneBeforeAndReportsItsWait) {
  const AttemptResult outcome =
      TrainingFixture().Run(2, AsyncRun(GetParam()), SlowDisk());
  EXPECT_EQ(outcome.result->digest, UndisturbedDigest(SmallRun()));
  EXPECT_THAT(outcome.StepsOf(EventKind::kSaveAcknowledged),
              ElementsAre(5, 10, 15, 20, 24));
  const std::vector<LogEvent> copies = outcome.Of(EventKind::kSaveCopied, 1);
  EXPECT_EQ(copies[0].detail, "");
  EXPECT_THAT(copies[1].detail, HasSubstr("s for the save of step 5"));
  EXPECT_THAT(outcome.lines, Contains(HasSubstr("save of step 10 waited 0.")));
}

// The parts of all ranks together are the state, and no copy is larger than its
// part.
TEST_P(AsyncSaveTest, OneCopyOfTheOwnPartIsAllTheMemoryItTakes) {
  const auto bytes_of = [](const AttemptResult& outcome, size_t rank) {
    std::vector<int64_t> bytes;
    for (const LogEvent& event : outcome.Of(EventKind::kSaveCopied, rank)) {
      bytes.push_back(event.count);
    }
    return bytes;
  };
  const AttemptResult alone = TrainingFixture().Run(1, AsyncRun(GetParam()));
  const int64_t whole = bytes_of(alone, 0).back();
  const AttemptResult two =
      TrainingFixture().Run(2, AsyncRun(GetParam()), SlowDisk());
  EXPECT_THAT(bytes_of(two, 0), Each(Le(whole * 2 / 3)));
  EXPECT_EQ(bytes_of(two, 0).back() + bytes_of(two, 1).back(), whole);
  EXPECT_THAT(alone.lines,
              Contains(HasSubstr(GetParam() == SaveMode::kAsync
                                     ? "from a copy of"
                                     : "from the state itself; updates write "
                                       "to a second set of arrays of ")));
}

TEST_P(AsyncSaveTest, OneError_CostsAtMostOneSave) {
  ExpectOneErrorCostsOneSave(AsyncRun(GetParam()));
}

TEST_P(AsyncSaveTest, FailedSaveIsReportedBeforeTheNextOneIsDue) {
  const FaultPlan plan = {
      .faults = {
          {.id = "full",
           .site = {.worker = 1, .point = Point::kShardSync, .occurrence = 2},
           .kind = FaultKind::kFsyncFails}}};
  TrainingFixture fixture;
  const AttemptResult outcome = fixture.Run(2, AsyncRun(GetParam()), plan);
  EXPECT_THAT(outcome.StepsOf(EventKind::kSaveAcknowledged),
              ElementsAre(5, 15, 20, 24));
  EXPECT_LT(StepAt(outcome, EventKind::kSaveFailed, 10), 15u);
  ASSERT_EQ(outcome.StepsOf(EventKind::kSaveFailed).size(), 1u);
  EXPECT_THAT(outcome.Of(EventKind::kSaveFailed)[0].detail,
              HasSubstr("rank 1's shard"));
  EXPECT_THAT(outcome.lines,
              Contains(HasSubstr("save of step 10 failed: rank 1's shard")));
  const auto left = fixture.disk().List("/ckpt");
  for (const DirectoryEntry& entry : *left) {
    EXPECT_THAT(entry.name, Not(HasSubstr(".tmp")));
  }
}

TEST_P(AsyncSaveTest, StopWaitsForTheSaveInFlightAndThenSaves) {
  TrainOptions options = AsyncRun(GetParam());
  options.horizon.stop_at_step = 7;
  const AttemptResult outcome = TrainingFixture().Run(2, options, SlowDisk());
  EXPECT_TRUE(outcome.AllExitedWith(WorkerExit::kStopped));
  EXPECT_THAT(outcome.StepsOf(EventKind::kSaveAcknowledged), ElementsAre(5, 7));
}

TEST_P(AsyncSaveTest, FinishedRunDeletesItsBackupAfterTheSaveInFlight) {
  TrainOptions options = AsyncRun(GetParam());
  options.checkpoint.at_success = AtSuccess::kDeleteCheckpoints;
  TrainingFixture fixture;
  const AttemptResult outcome = fixture.Run(2, options, SlowDisk());
  EXPECT_TRUE(outcome.AllExitedWith(WorkerExit::kDone));
  EXPECT_THAT(outcome.StepsOf(EventKind::kSaveAcknowledged),
              ElementsAre(5, 10, 15, 20));
  EXPECT_EQ(fixture.disk().List("/ckpt").status().code(), Code::kNotFound);
}

// A worker, either of the two, dies during the save of step 5. The save fails,
// or is acknowledged and later found. The other worker's task ends before that
// worker's last event.
TEST_P(AsyncSaveTest, DeathLeavesTheSaveInFlightFailedOrAcknowledged) {
  for (const int worker : {0, 1}) {
    for (const Point point :
         {Point::kCopy, Point::kShardWrite, Point::kShardDone,
          Point::kSaveAgree, Point::kManifestSync, Point::kRename,
          Point::kSaveAcknowledged}) {
      TrainingFixture fixture;
      const FaultPlan plan = {.faults = {CrashAt(worker, {.point = point})}};
      const AttemptResult first = fixture.Run(2, AsyncRun(GetParam()), plan);
      if (first.AllExitedWith(WorkerExit::kDone))
        continue;  // only the chief has this point
      const size_t survivor = worker == 0 ? 1 : 0;
      EXPECT_EQ(KindsOf(first, survivor).back(), EventKind::kWorkerExited);
      // At any other point, the rename has not happened yet.
      const bool committed = point == Point::kSaveAcknowledged;
      EXPECT_LE(first.Of(EventKind::kSaveAcknowledged).size(), committed);
      const AttemptResult next = fixture.Run(2, AsyncRun(GetParam()));
      EXPECT_TRUE(next.AllExitedWith(WorkerExit::kDone)) << next.reasons[0];
      EXPECT_EQ(next.result->digest, UndisturbedDigest(SmallRun()));
      EXPECT_EQ(next.result->resumed_from,
                committed ? std::optional<uint64_t>(5) : std::nullopt);
    }
  }
}

TEST_P(AsyncSaveTest, LoadsTheStateOfTheSavedStep_NotALaterOne) {
  TrainingFixture fixture;
  const FaultPlan plan = {
      .faults = {SlowDisk().faults[0],
                 CrashAt(kChief, {.point = Point::kSaveEnd, .occurrence = 2})}};
  const AttemptResult first = fixture.Run(2, AsyncRun(GetParam()), plan);
  EXPECT_THAT(first.StepsOf(EventKind::kSaveAcknowledged), ElementsAre(5, 10));
  const AttemptResult next = fixture.Run(2, AsyncRun(GetParam()));
  ASSERT_FALSE(next.Of(EventKind::kResumed).empty()) << next.reasons[0];
  EXPECT_EQ(next.Of(EventKind::kResumed)[0].digest,
            first.Of(EventKind::kSaveAcknowledged)[1].digest);
  EXPECT_EQ(next.Of(EventKind::kResumed)[0].step, 10u);
}

// A task that hangs is given up at the time limit of a save, although training
// continues, heartbeats arrive, and no other save is due.
TEST_P(AsyncSaveTest, HangingDiskIsNoticedWithinTheBoundOfASave) {
  TrainOptions options = AsyncRun(GetParam());
  options.horizon.epochs = 1000;
  options.checkpoint.trigger = {.unit = SaveUnit::kEpochs, .every = 3};
  const FaultPlan plan = {
      .faults = {{.id = "hang",
                  .site = {.worker = 1, .point = Point::kShardSync},
                  .kind = FaultKind::kHang},
                 SlowFault(0, Point::kStepBegin, std::chrono::seconds(1))}};
  const AttemptResult outcome = TrainingFixture().Run(2, options, plan);
  EXPECT_TRUE(outcome.AllExitedWith(WorkerExit::kLostWorker));
  EXPECT_THAT(outcome.reasons[1], HasSubstr("has not ended within 10.0 s"));
  EXPECT_THAT(outcome.StepsOf(EventKind::kStep).back(),
              testing::AllOf(Ge(27u), Le(30u)));
}

// A save takes four seconds, five steps take half a second. The notice arrives
// at any step between two saves. Within the grace period, the workers complete
// the save in progress, train further steps, and save the agreed step.
TEST_P(AsyncSaveTest, NoticeLeavesTimeForTheSaveInFlightAndTheLastOne) {
  TrainOptions options = AsyncRun(GetParam());
  options.preemption.grace = std::chrono::seconds(30);
  options.horizon.epochs = 1000;
  for (uint64_t step = 13; step < 19; ++step) {
    const FaultPlan plan = {
        .faults = {
            SlowFault(kAllWorkers, Point::kShardOpen, std::chrono::seconds(4)),
            {.id = "heavy",
             .site = {.worker = 0, .point = Point::kStepBegin},
             .kind = FaultKind::kSlow,
             .with = {.times = FaultTimes::kAlways,
                      .latency = std::chrono::milliseconds(100)}},
            {.id = "notice",
             .site = {.worker = 1, .step = step},
             .kind = FaultKind::kPreempt,
             .with = {.grace = std::chrono::seconds(30)}}}};
    const AttemptResult outcome = TrainingFixture().Run(2, options, plan);
    EXPECT_TRUE(outcome.AllExitedWith(WorkerExit::kStopped)) << step;
    ASSERT_EQ(outcome.StepsOf(EventKind::kStopAgreed).size(), 1u);
    const uint64_t stop = outcome.StepsOf(EventKind::kStopAgreed)[0];
    EXPECT_EQ(outcome.StepsOf(EventKind::kSaveAcknowledged).back(), stop);
    EXPECT_GT(stop, step + 3);
  }
}

// The commit takes half a second, during which worker 1 dies.
TEST_P(AsyncSaveTest, SurvivorsTaskHasEndedBeforeItsLastEvent) {
  Fault heavy = SlowFault(0, Point::kStepBegin, std::chrono::milliseconds(50));
  heavy.id = "heavy";
  const FaultPlan plan = {.faults = {SlowFault(kChief, Point::kRename,
                                               std::chrono::milliseconds(500)),
                                     heavy, CrashAt(1, {.step = 9})}};
  const AttemptResult outcome =
      TrainingFixture().Run(2, AsyncRun(GetParam()), plan);
  EXPECT_THAT(outcome.StepsOf(EventKind::kSaveAcknowledged), ElementsAre(5));
  EXPECT_EQ(KindsOf(outcome).back(), EventKind::kWorkerExited);
}

TEST_P(AsyncSaveTest, LiveParametersInPlaceOfACopyDoNotVerify) {
  FaultPlan plan = SlowDisk();
  plan.bugs = {PlantedBug::kWriteLiveState};
  plan.faults.push_back(CrashAt(kChief, {.step = 12}));
  TrainingFixture fixture;
  fixture.Run(2, AsyncRun(GetParam()), plan);
  const AttemptResult next = fixture.Run(2, AsyncRun(GetParam()));
  EXPECT_TRUE(next.AllExitedWith(WorkerExit::kNoCheckpoint));
  EXPECT_THAT(next.reasons[0], HasSubstr("step-000000005-g1: state digest"));
}

}  // namespace
}  // namespace gauntlet
