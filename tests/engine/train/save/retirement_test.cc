// The state file and retention after a synchronous save: a task of the chief
// retires old checkpoints while training continues.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/train/training_fixture.h"

namespace gauntlet {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::Ge;
using testing::HasSubstr;
using testing::Le;
using testing::Lt;

// Each save from the second on removes a checkpoint.
TrainOptions RunThatKeepsOne() {
  TrainOptions options = SmallRun();
  options.checkpoint.keep = 1;
  return options;
}

Fault AlwaysSlow(Point point, Duration latency) {
  return {.id = fmt::format("slow at {}", PointName(point)),
          .site = {.worker = kChief, .point = point},
          .kind = FaultKind::kSlow,
          .with = {.times = FaultTimes::kAlways, .latency = latency}};
}

// Slows the sync of the state file that the first save's task writes. (The
// first state file is the claim's.)
Fault SlowStateFile(Duration latency) {
  Fault fault = AlwaysSlow(Point::kStateSync, latency);
  fault.site.occurrence = 2;
  return fault;
}

// Makes the task slower than the steps until the next save.
FaultPlan SlowRetirement() {
  return {.faults = {SlowStateFile(milliseconds(500))}};
}

Duration TimeOf(const std::vector<PartTime>& parts, TimePart part) {
  const auto found = std::ranges::find(parts, part, &PartTime::part);
  return found == parts.end() ? Duration::zero() : found->took;
}

// Returns the index of the event of that kind and step among the chief's
// events.
size_t PlaceOf(const AttemptResult& outcome, EventKind kind, uint64_t step) {
  const std::vector<LogEvent>& events = outcome.events[0];
  const auto found = std::ranges::find_if(events, [&](const LogEvent& event) {
    return event.kind == kind && event.step == step;
  });
  EXPECT_NE(found, events.end()) << EventKindName(kind) << " " << step;
  return static_cast<size_t>(found - events.begin());
}

TEST(RetirementTest, TrainingContinuesWhileTheStateFileIsSynced) {
  const AttemptResult outcome =
      TrainingFixture().Run(2, RunThatKeepsOne(), SlowRetirement());
  EXPECT_TRUE(outcome.AllExitedWith(WorkerExit::kDone)) << outcome.reasons[0];
  EXPECT_EQ(outcome.result->digest, UndisturbedDigest(SmallRun()));
  EXPECT_THAT(outcome.StepsOf(EventKind::kSaveAcknowledged),
              ElementsAre(5, 10, 15, 20, 24));
  EXPECT_LT(PlaceOf(outcome, EventKind::kStep, 14),
            PlaceOf(outcome, EventKind::kSaveTimes, 10));
  EXPECT_LT(PlaceOf(outcome, EventKind::kSaveTimes, 10),
            PlaceOf(outcome, EventKind::kSaveBegin, 15));
}

TEST(RetirementTest, NextSave_WaitsAndReportsTheWait) {
  const AttemptResult outcome =
      TrainingFixture().Run(2, RunThatKeepsOne(), SlowRetirement());
  const std::vector<LogEvent> times = outcome.Of(EventKind::kSaveTimes);
  ASSERT_EQ(times.size(), 5u);
  EXPECT_EQ(TimeOf(times[0].parts, TimePart::kWait), Duration::zero());
  EXPECT_EQ(TimeOf(times[0].parts, TimePart::kStateFile), Duration::zero());
  EXPECT_GE(TimeOf(times[0].background, TimePart::kStateFile),
            milliseconds(500));
  Duration task{0};
  for (const PartTime& part : times[0].background) task += part.took;
  // The steps between the two saves run while the task runs.
  EXPECT_THAT(TimeOf(times[1].parts, TimePart::kWait),
              AllOf(Ge(milliseconds(1)), Lt(task)));
  // No step runs during the last save.
  EXPECT_GE(TimeOf(times[4].parts, TimePart::kStateFile), milliseconds(500));
  EXPECT_TRUE(times[4].background.empty());
}

// The save of step 15 waits for the task of step 10, and starts another one
// that is still running when the chief dies.
TEST(RetirementTest, FailureOfATaskIsReported_AlsoWhileTheNextTaskRuns) {
  FaultPlan plan = SlowRetirement();
  plan.faults.push_back(
      {.id = "full",
       .site = {.worker = kChief, .point = Point::kStateWrite, .occurrence = 3},
       .kind = FaultKind::kErrno,
       .with = {.error = ENOSPC}});
  plan.faults.push_back({.id = "crash",
                         .site = {.worker = kChief, .step = 18},
                         .kind = FaultKind::kCrash});
  const AttemptResult outcome =
      TrainingFixture().Run(2, RunThatKeepsOne(), plan);
  EXPECT_THAT(outcome.StepsOf(EventKind::kSaveAcknowledged),
              ElementsAre(5, 10, 15));
  EXPECT_THAT(outcome.lines, Contains(HasSubstr("injected ENOSPC")));
}

TEST(RetirementTest, FinishedRunHasRetired_AlsoWithoutAnotherSaveAtTheEnd) {
  TrainOptions options = RunThatKeepsOne();
  options.checkpoint.trigger = {.unit = SaveUnit::kEpochs, .every = 1};
  TrainingFixture fixture;
  const AttemptResult outcome = fixture.Run(2, options, SlowRetirement());
  EXPECT_TRUE(outcome.AllExitedWith(WorkerExit::kDone)) << outcome.reasons[0];
  EXPECT_THAT(outcome.StepsOf(EventKind::kSaveAcknowledged),
              ElementsAre(6, 12, 18, 24));
  EXPECT_LT(PlaceOf(outcome, EventKind::kSaveTimes, 24),
            PlaceOf(outcome, EventKind::kFinished, 24));
  EXPECT_EQ(outcome.Of(EventKind::kRetired).size(), 3u);
}

// The task of the save of step 10 waits for two seconds before it removes the
// checkpoint of step 5. A step takes one second.
FaultPlan WaitingTask() {
  return {.faults = {{.id = "wait",
                      .site = {.worker = kChief, .point = Point::kRetireRename},
                      .kind = FaultKind::kHang,
                      .with = {.duration = std::chrono::seconds(2)}},
                     AlwaysSlow(Point::kStepBegin, std::chrono::seconds(1))}};
}

// Makes another worker claim the directory, for generation 7, while that task
// waits.
void ClaimMeanwhile(TrainingFixture& fixture) {
  fixture.simulation().At(
      fixture.simulation().now() + std::chrono::seconds(11), [&fixture] {
        EXPECT_TRUE(fixture.disk()
                        .Open("/ckpt/gen-000007", OpenMode::kCreateExclusive)
                        .ok());
      });
}

TEST(RetirementTest, FencedTaskStopsTheRunAtTheNextBoundary) {
  TrainingFixture fixture;
  ClaimMeanwhile(fixture);
  const AttemptResult fenced = fixture.Run(2, RunThatKeepsOne(), WaitingTask());
  EXPECT_TRUE(fenced.AllExitedWith(WorkerExit::kLostWorker));
  EXPECT_THAT(fenced.reasons[0], HasSubstr("after the save of step 10: "));
  EXPECT_THAT(fenced.StepsOf(EventKind::kSaveAcknowledged), ElementsAre(5, 10));
  EXPECT_THAT(fenced.StepsOf(EventKind::kStep).back(), AllOf(Ge(12u), Le(14u)));
  const AttemptResult next = fixture.Run(2, RunThatKeepsOne());
  EXPECT_EQ(next.result->resumed_from, 10u);
  EXPECT_EQ(next.result->digest, UndisturbedDigest(SmallRun()));
}

// Worker 1 is lost while the task waits. The survivor must end: if it joined
// another generation, it would claim a higher number than the generation that
// owns the directory.
TEST(RetirementTest, FencedTaskEndsItsWorker_AlsoInALostGeneration) {
  for (const OnLoss on_loss : {OnLoss::kLeave, OnLoss::kRejoin}) {
    TrainingFixture fixture;
    ClaimMeanwhile(fixture);
    TrainOptions options = RunThatKeepsOne();
    options.cluster.on_loss = on_loss;
    FaultPlan plan = WaitingTask();
    plan.faults.push_back({.id = "crash",
                           .site = {.worker = 1, .step = 11},
                           .kind = FaultKind::kCrash});
    const AttemptResult fenced = fixture.Run(2, options, plan);
    EXPECT_EQ(fenced.exits[0], static_cast<int>(WorkerExit::kLostWorker));
    EXPECT_THAT(fenced.reasons[0], HasSubstr("after the save of step 10: "));
    EXPECT_EQ(fenced.events[0].back().reason, Reason::kSuperseded);
    EXPECT_TRUE(fenced.Of(EventKind::kLeft).empty());
  }
}

// The third state file is that of the save of step 10. The first two are those
// of the claim and of the save of step 5.
TEST(RetirementTest, CrashedTaskLeavesAnAcknowledgedCheckpoint) {
  for (const FaultSite& site :
       {FaultSite{.point = Point::kStateWrite, .occurrence = 3},
        FaultSite{.point = Point::kStateSync, .occurrence = 3},
        FaultSite{.point = Point::kStateRename, .occurrence = 3},
        FaultSite{.point = Point::kRetireRename},
        FaultSite{.point = Point::kRetireRenamed},
        FaultSite{.point = Point::kRetireRemove},
        FaultSite{.point = Point::kSaveEnd, .occurrence = 2}}) {
    Fault crash = {.id = "crash", .site = site, .kind = FaultKind::kCrash};
    crash.site.worker = kChief;
    TrainingFixture fixture;
    const AttemptResult first =
        fixture.Run(2, RunThatKeepsOne(), {.faults = {crash}});
    EXPECT_THAT(first.StepsOf(EventKind::kSaveAcknowledged), ElementsAre(5, 10))
        << PointName(site.point);
    const AttemptResult next = fixture.Run(2, RunThatKeepsOne());
    EXPECT_TRUE(next.AllExitedWith(WorkerExit::kDone)) << next.reasons[0];
    EXPECT_EQ(next.result->resumed_from, 10u) << PointName(site.point);
    EXPECT_EQ(next.result->digest, UndisturbedDigest(SmallRun()));
  }
}

// The hang is detected although no other save is due and heartbeats arrive.
TEST(RetirementTest, HangingTaskIsDetectedWithinTheLimitOfASave) {
  TrainOptions options = RunThatKeepsOne();
  options.horizon.epochs = 1000;
  options.checkpoint.trigger = {.unit = SaveUnit::kEpochs, .every = 3};
  const FaultPlan plan = {
      .faults = {{.id = "hang",
                  .site = {.worker = kChief,
                           .point = Point::kStateSync,
                           .occurrence = 2},
                  .kind = FaultKind::kHang},
                 AlwaysSlow(Point::kStepBegin, std::chrono::seconds(1))}};
  const AttemptResult outcome = TrainingFixture().Run(2, options, plan);
  EXPECT_TRUE(outcome.AllExitedWith(WorkerExit::kLostWorker));
  EXPECT_THAT(outcome.reasons[0],
              HasSubstr("the writing of the state file or the removal of old "
                        "checkpoints after the save of step 18 has not ended "
                        "within 10.0 s"));
  EXPECT_THAT(outcome.StepsOf(EventKind::kStep).back(),
              AllOf(Ge(27u), Le(30u)));
}

// Writing the state file takes four seconds. Only the chief measures this time.
// After its notice, worker 1 leaves time for the state file, and trains for a
// part of the remaining grace period. The notice comes before the first save
// (which it requests), while the task of that save runs, after the task, and
// after the second save.
TEST(RetirementTest, NoticeLeavesTimeToRetireAfterTheLastSave) {
  constexpr std::chrono::seconds kGrace(12);
  TrainOptions options = RunThatKeepsOne();
  options.preemption.grace = kGrace;
  options.horizon.epochs = 1000;
  options.checkpoint.trigger = {.unit = SaveUnit::kSteps, .every = 12};
  for (const uint64_t step : {3, 14, 18, 26}) {
    const FaultPlan plan = {
        .faults = {SlowStateFile(std::chrono::seconds(4)),
                   AlwaysSlow(Point::kStepBegin, std::chrono::seconds(1)),
                   {.id = "notice",
                    .site = {.worker = 1, .step = step},
                    .kind = FaultKind::kPreempt,
                    .with = {.grace = kGrace}}}};
    const AttemptResult outcome = TrainingFixture().Run(2, options, plan);
    EXPECT_TRUE(outcome.AllExitedWith(WorkerExit::kStopped)) << step;
    ASSERT_EQ(outcome.StepsOf(EventKind::kStopAgreed).size(), 1u) << step;
    const uint64_t stop = outcome.StepsOf(EventKind::kStopAgreed)[0];
    EXPECT_EQ(outcome.StepsOf(EventKind::kSaveAcknowledged).back(), stop);
    EXPECT_GT(stop, step + 1);
  }
}

// Worker 1 dies while the task of the chief runs.
TEST(RetirementTest, SurvivorExits_OnceItsTaskHasEnded) {
  const FaultPlan plan = {.faults = {SlowStateFile(milliseconds(500)),
                                     {.id = "crash",
                                      .site = {.worker = 1, .step = 12},
                                      .kind = FaultKind::kCrash}}};
  const AttemptResult outcome =
      TrainingFixture().Run(2, RunThatKeepsOne(), plan);
  EXPECT_THAT(outcome.StepsOf(EventKind::kSaveTimes), ElementsAre(5, 10));
  EXPECT_EQ(outcome.Of(EventKind::kRetired).size(), 1u);
  EXPECT_EQ(outcome.events[0].back().kind, EventKind::kWorkerExited);
}

}  // namespace
}  // namespace gauntlet
