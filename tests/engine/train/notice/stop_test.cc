// Preemption notices: whenever and wherever one arrives, all workers stop at
// one step and save its state.
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/train/training_fixture.h"

namespace gauntlet {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

FaultPlan NoticeAt(const FaultSite& site) {
  return {.faults = {{.id = "notice",
                      .site = site,
                      .kind = FaultKind::kPreempt,
                      .with = {.grace = std::chrono::seconds(20)}}}};
}

// Checks the events of an orderly stop, and returns its step.
uint64_t ExpectOrderlyStop(const AttemptResult& outcome,
                           const std::string& where) {
  EXPECT_EQ(outcome.end, RunEnd::kAllExited) << where;
  EXPECT_TRUE(outcome.AllExitedWith(WorkerExit::kStopped))
      << where << ": " << outcome.reasons[0];
  std::set<uint64_t> steps;
  for (size_t rank = 0; rank < outcome.exits.size(); ++rank) {
    for (const uint64_t step : outcome.StepsOf(EventKind::kStopAgreed, rank)) {
      steps.insert(step);
    }
  }
  EXPECT_EQ(steps.size(), 1u) << where;
  EXPECT_TRUE(outcome.result && outcome.result->status == "stopped") << where;
  const auto saved = outcome.StepsOf(EventKind::kSaveAcknowledged);
  EXPECT_TRUE(steps.size() == 1 && !saved.empty() &&
              saved.back() == *steps.begin())
      << where;
  return steps.empty() ? 0 : *steps.begin();
}

bool ComesInAnIncarnation(Point point) {
  return point != Point::kReject && point != Point::kBackupDelete &&
         point != Point::kFinish;
}

// Uses the second attempt, so that loads and retention are covered too.
TEST(StopTest, NoticeAtAnyPointLeadsToOneSavedStep) {
  const std::string golden = UndisturbedDigest(SmallRun());
  for (const PointInfo& info : AllPoints()) {
    if (!ComesInAnIncarnation(info.point)) continue;
    for (const int worker : {0, 2}) {
      TrainingFixture fixture;
      TrainOptions options = SmallRun();
      options.checkpoint.keep = 1;
      options.horizon.stop_at_step = 4;
      fixture.Run(3, options);
      options.horizon.stop_at_step.reset();
      const std::string where = fmt::format("{} worker {}", info.name, worker);
      const AttemptResult stopped = fixture.Run(
          3, options,
          NoticeAt({.worker = worker, .incarnation = 2, .point = info.point}));
      if (stopped.result && stopped.result->status == "done") {
        EXPECT_TRUE(stopped.Of(EventKind::kFaultFired, 2).empty()) << where;
        EXPECT_TRUE(stopped.Of(EventKind::kFaultFired, 0).empty()) << where;
        continue;  // Only the chief has this point.
      }
      const uint64_t step = ExpectOrderlyStop(stopped, where);
      const AttemptResult last = fixture.Run(2, options);
      ASSERT_TRUE(last.result) << where << ": " << last.reasons[0];
      EXPECT_EQ(last.result->resumed_from, step) << where;
      EXPECT_EQ(last.result->digest, golden) << where;
    }
  }
}

// A notice before a step's exchange reaches the other workers in that exchange.
TEST(StopTest, NoticeAtTheBeginOfAStepStopsBehindIt) {
  for (uint64_t step = 1; step < kSteps - 1; ++step) {
    const AttemptResult outcome = TrainingFixture(step).Run(
        3, SmallRun(), NoticeAt({.worker = 1, .step = step}));
    const uint64_t stop =
        ExpectOrderlyStop(outcome, fmt::format("step {}", step));
    EXPECT_EQ(stop, step);
  }
}

TEST(StopTest, NoticeAtTheLastStepIsAFinishedRun) {
  const AttemptResult outcome =
      TrainingFixture().Run(3, SmallRun(), NoticeAt({.worker = 1, .step = 24}));
  EXPECT_TRUE(outcome.AllExitedWith(WorkerExit::kDone));
  EXPECT_EQ(outcome.result->status, "done");
  EXPECT_EQ(outcome.result->digest, UndisturbedDigest(SmallRun()));
}

TEST(StopTest, NoticeInTheLastEvaluationIsAFinishedRun) {
  const AttemptResult outcome = TrainingFixture().Run(
      3, SmallRun(),
      NoticeAt({.worker = 1, .epoch = 3, .point = Point::kEvalBegin}));
  EXPECT_TRUE(outcome.AllExitedWith(WorkerExit::kDone));
  EXPECT_EQ(outcome.result->status, "done");
}

TEST(StopTest, NoticesToAllAndMoreThanOneAreOneStop) {
  FaultPlan plan = NoticeAt({.worker = kAllWorkers, .step = 9});
  plan.faults.push_back(plan.faults[0]);
  plan.faults[1].id = "again";
  plan.faults[1].site.point = Point::kAllReduceEnd;
  const AttemptResult outcome = TrainingFixture().Run(3, SmallRun(), plan);
  EXPECT_EQ(ExpectOrderlyStop(outcome, "all"), 9u);
  for (size_t rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(outcome.Of(EventKind::kNotice, rank).size(), 1u);
  }
}

// The grace period begins with the notice, not with the end of the current
// operation. Step 8 uses 2 of 3 s, so training stops. With a sufficient grace
// period, it continues. This must also leave time for a task like the one after
// the save of step 5, which ends in step 8 too and may have taken as long.
TEST(StopTest, RunningStep_UsesUpTheGrace) {
  const auto stop_with = [](Duration grace) {
    TrainOptions options = SmallRun();
    options.preemption.grace = grace;
    FaultPlan plan = NoticeAt({.worker = 1, .step = 8});
    plan.faults.push_back(
        {.id = "long",
         .site = {.worker = 1, .step = 8, .point = Point::kDataNext},
         .kind = FaultKind::kSlow,
         .with = {.latency = std::chrono::seconds(2)}});
    const AttemptResult outcome = TrainingFixture().Run(2, options, plan);
    return outcome.result.value_or(TrainResult{}).steps;
  };
  EXPECT_EQ(stop_with(std::chrono::seconds(3)), 8u);
  EXPECT_GT(stop_with(std::chrono::seconds(12)), 9u);
}

// The duration of a step is unknown until the first step of an attempt ends.
TEST(StopTest, NoticeInALoadStopsAtTheNextStepWhateverTheGrace) {
  TrainingFixture fixture;
  TrainOptions options = SmallRun();
  options.horizon.stop_at_step = 4;
  fixture.Run(2, options);
  options.horizon.stop_at_step.reset();
  options.preemption.grace = std::chrono::hours(1);
  const AttemptResult outcome = fixture.Run(
      2, options,
      NoticeAt({.worker = 1, .incarnation = 2, .point = Point::kLoadEnd}));
  EXPECT_EQ(ExpectOrderlyStop(outcome, "load"), 5u);
}

TEST(StopTest, StepToStopAtThatIsPastIsReported) {
  TrainingFixture fixture;
  TrainOptions options = SmallRun();
  options.horizon.stop_at_step = 4;
  EXPECT_THAT(fixture.Run(2, options).lines,
              Not(Contains(HasSubstr("stop at is past"))));
  const AttemptResult again = fixture.Run(2, options);
  EXPECT_EQ(again.result.value().status, "done");
  EXPECT_THAT(again.lines, Contains(HasSubstr("step 4 to stop at is past")));
}

// The first evaluation may take longer than the grace, so it is left to the
// next attempt.
TEST(StopTest, UnmeasuredEvaluation_IsNotBegunAfterANotice) {
  TrainOptions options = SmallRun();
  options.preemption.grace = std::chrono::hours(1);
  const AttemptResult outcome =
      TrainingFixture().Run(2, options, NoticeAt({.worker = 1, .step = 3}));
  EXPECT_EQ(ExpectOrderlyStop(outcome, "grace"), kSteps / 4);
}

// The last evaluation continues, and a worker that is killed in it loses no
// step.
TEST(StopTest, LastStepIsSavedBeforeAnEvaluationThatOutlastsTheGrace) {
  TrainingFixture fixture;
  TrainOptions options = SmallRun();
  options.checkpoint.trigger = {.unit = SaveUnit::kNone};
  FaultPlan plan = NoticeAt({.worker = 1, .step = 24});
  plan.faults.push_back(
      {.id = "long",
       .site = {.worker = 1, .epoch = 3, .point = Point::kEvalBegin},
       .kind = FaultKind::kSlow,
       .with = {.latency = std::chrono::seconds(25)}});
  fixture.Run(2, options, plan);
  const AttemptResult next = fixture.Run(2, options);
  ASSERT_TRUE(next.result) << next.reasons[0];
  EXPECT_EQ(next.result->resumed_from, 24u);
  EXPECT_EQ(next.result->digest, UndisturbedDigest(SmallRun()));
}

TrainOptions LooksFor(const std::string& file, const std::string& url) {
  TrainOptions options = SmallRun();
  options.preemption = {
      .file = file, .url = url, .poll_every = std::chrono::milliseconds(1)};
  return options;
}

TEST(StopTest, FileThatIsThereFromTheStartStopsAtTheFirstStep) {
  TrainingFixture fixture;
  ASSERT_TRUE(fixture.disk().Open("/go", OpenMode::kCreateTruncate).ok());
  const AttemptResult outcome = fixture.Run(3, LooksFor("/go", ""));
  EXPECT_EQ(ExpectOrderlyStop(outcome, "file"), 1u);
  EXPECT_THAT(outcome.lines,
              testing::Contains("worker 0: preemption notice: /go"));
}

TEST(StopTest, NoticeOfOneHostsServiceStopsAllWorkers) {
  TrainingFixture fixture;
  fixture.simulation().SetMetadata("w2", MetadataAnswering("TRUE"));
  const AttemptResult outcome =
      fixture.Run(3, LooksFor("", "http://169.254.169.254/x"));
  EXPECT_EQ(ExpectOrderlyStop(outcome, "url"), 1u);
  EXPECT_EQ(outcome.Of(EventKind::kNotice, 0).size(), 0u);
  EXPECT_EQ(outcome.Of(EventKind::kNotice, 2).size(), 1u);
}

// Compares bits and virtual time with a run that polls no service.
TEST(StopTest, ServiceThatHangsSlowsNoTraining) {
  using Behavior = MetadataService::Behavior;
  const TrainOptions asks = LooksFor("", "http://169.254.169.254/x");
  TrainingFixture alone;
  alone.Run(2, SmallRun());
  for (const Behavior way : {Behavior::kHangs, Behavior::kRefuses}) {
    TrainingFixture fixture;
    for (const char* host : {"w0", "w1"}) {
      fixture.simulation().SetMetadata(host, {.behavior = way});
    }
    const AttemptResult outcome = fixture.Run(2, asks);
    EXPECT_TRUE(outcome.AllExitedWith(WorkerExit::kDone));
    EXPECT_EQ(outcome.result->digest, UndisturbedDigest(SmallRun()));
    EXPECT_LT(fixture.simulation().now() - alone.simulation().now(),
              std::chrono::milliseconds(50));
  }
}

TEST(StopTest, WithoutAStoreAStopIsAStopAllTheSame) {
  TrainOptions options = SmallRun();
  options.checkpoint = {};
  const AttemptResult outcome =
      TrainingFixture().Run(2, options, NoticeAt({.worker = 0, .step = 9}));
  EXPECT_TRUE(outcome.AllExitedWith(WorkerExit::kStopped));
  EXPECT_EQ(outcome.result->steps, 9u);
}

}  // namespace
}  // namespace gauntlet
