// Notices: whenever and wherever one comes, all workers stop at one step, with
// its state saved.
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/train/training_fixture.h"

namespace gauntlet {
namespace {

FaultPlan NoticeAt(const FaultSite& site) {
  return {.faults = {{.id = "notice",
                      .site = site,
                      .kind = FaultKind::kPreempt,
                      .with = {.grace = std::chrono::seconds(20)}}}};
}

// What every orderly stop looks like; the step.
uint64_t ExpectOrderlyStop(const LifeOutcome& outcome,
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

bool ComesInALife(Point point) {
  return point != Point::kReject && point != Point::kBackupDelete &&
         point != Point::kFinish;
}

// The second life, so that loads and retirement are met too.
TEST(StopTest, ANoticeAtAnyPointLeadsToOneSavedStep) {
  const std::string golden = UndisturbedDigest(SmallRun());
  for (const PointInfo& info : AllPoints()) {
    if (!ComesInALife(info.point)) continue;
    for (const int worker : {0, 2}) {
      TrainingFixture fixture;
      TrainOptions options = SmallRun();
      options.checkpoint.keep = 1;
      options.horizon.stop_at_step = 4;
      fixture.Run(3, options);
      options.horizon.stop_at_step.reset();
      const std::string where = fmt::format("{} worker {}", info.name, worker);
      const LifeOutcome stopped = fixture.Run(
          3, options,
          NoticeAt({.worker = worker, .life = 2, .point = info.point}));
      if (stopped.result && stopped.result->status == "done") {
        EXPECT_TRUE(stopped.Of(EventKind::kFaultFired, 2).empty()) << where;
        EXPECT_TRUE(stopped.Of(EventKind::kFaultFired, 0).empty()) << where;
        continue;  // Only the chief has this point.
      }
      const uint64_t step = ExpectOrderlyStop(stopped, where);
      const LifeOutcome last = fixture.Run(2, options);
      ASSERT_TRUE(last.result) << where << ": " << last.reasons[0];
      EXPECT_EQ(last.result->resumed_from, step) << where;
      EXPECT_EQ(last.result->digest, golden) << where;
    }
  }
}

// One that comes within a step is asked of the others with the next exchange.
TEST(StopTest, ANoticeAtAnyStepIsHeededAtTheNextOneAtTheLatest) {
  for (uint64_t step = 1; step < kSteps - 1; ++step) {
    const LifeOutcome outcome = TrainingFixture(step).Run(
        3, SmallRun(), NoticeAt({.worker = 1, .step = step}));
    const uint64_t stop =
        ExpectOrderlyStop(outcome, fmt::format("step {}", step));
    EXPECT_GE(stop, step);
    EXPECT_LE(stop, step + 1);
  }
}

TEST(StopTest, ANoticeAtTheLastStepIsAFinishedRun) {
  const LifeOutcome outcome =
      TrainingFixture().Run(3, SmallRun(), NoticeAt({.worker = 1, .step = 24}));
  EXPECT_TRUE(outcome.AllExitedWith(WorkerExit::kDone));
  EXPECT_EQ(outcome.result->status, "done");
  EXPECT_EQ(outcome.result->digest, UndisturbedDigest(SmallRun()));
}

TEST(StopTest, ANoticeInTheLastEvaluationIsAFinishedRun) {
  const LifeOutcome outcome = TrainingFixture().Run(
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
  const LifeOutcome outcome = TrainingFixture().Run(3, SmallRun(), plan);
  EXPECT_EQ(ExpectOrderlyStop(outcome, "all"), 10u);
  for (size_t rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(outcome.Of(EventKind::kNotice, rank).size(), 1u);
  }
}

TEST(StopTest, WithoutAStoreAStopIsAStopAllTheSame) {
  TrainOptions options = SmallRun();
  options.checkpoint = {};
  const LifeOutcome outcome =
      TrainingFixture().Run(2, options, NoticeAt({.worker = 0, .step = 9}));
  EXPECT_TRUE(outcome.AllExitedWith(WorkerExit::kStopped));
  EXPECT_EQ(outcome.result->steps, 10u);
}

}  // namespace
}  // namespace gauntlet
