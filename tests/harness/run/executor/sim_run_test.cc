#include "harness/run/executor/sim_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/run/case_runner.h"
#include "tests/harness/run/small_cases.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class SimRunTest : public testing::Test {
 protected:
  RunLog Run(const RunPlan& plan) {
    return RunSimulated(pool_, plan,
                        *references_.DataOf(plan.train.job.data).value());
  }

  FiberPool pool_;
  References references_{"", "test"};
};

TEST_F(SimRunTest, EqualPlansGiveEqualLogs) {
  const RunPlan plan = PlanOf(CrashCase());
  const RunLog a = Run(plan);
  const RunLog b = Run(plan);
  EXPECT_EQ(a.event_digest, b.event_digest);
  EXPECT_EQ(a.incarnations, b.incarnations);
  EXPECT_EQ(a.launchers, b.launchers);
  EXPECT_EQ(a.virtual_seconds, b.virtual_seconds);
}

TEST_F(SimRunTest, Interrupt_EndsTheRun) {
  RunPlan plan = PlanOf(CrashCase());
  int asked = 0;
  plan.interrupted = [&] { return ++asked > 200; };
  const RunLog log = Run(plan);
  EXPECT_EQ(log.ending, RunEnding::kTimedOut);
  EXPECT_EQ(log.harness_error, kWasInterrupted);
  EXPECT_THAT(log.launchers, IsEmpty());
}

// The reference run has one worker, which hardly ever waits for anything.
TEST_F(SimRunTest, InterruptedReferenceIsEmpty) {
  RunPlan plan = PlanOf(CrashCase());
  int asked = 0;
  plan.interrupted = [&] { return ++asked > 20; };
  EXPECT_FALSE(references_.GoldenFor(plan).ok());
  plan.interrupted = nullptr;
  EXPECT_TRUE(references_.GoldenFor(plan).ok());
}

TEST_F(SimRunTest, MemoChangesNothing) {
  const RunPlan plan = PlanOf(CrashCase());
  const DataSplit& data = *references_.DataOf(plan.train.job.data).value();
  const RunLog computed = Run(plan);
  RunMemo memo(plan.train.job, data);
  for (int time = 0; time < 2; ++time) {
    const RunLog memoized = RunSimulated(pool_, plan, data, &memo);
    EXPECT_EQ(memoized.event_digest, computed.event_digest);
    EXPECT_EQ(memoized.incarnations, computed.incarnations);
  }
  EXPECT_GT(memo.passes.found(), memo.passes.computed());
}

TEST_F(SimRunTest, AnotherSeedIsAnotherRunToTheSameState) {
  RunPlan plan = PlanOf(CrashCase());
  const RunLog a = Run(plan);
  plan.faults.seed = 8;
  const RunLog b = Run(plan);
  EXPECT_NE(a.event_digest, b.event_digest);
  EXPECT_EQ(a.launchers[0].result->digest, b.launchers[0].result->digest);
}

// Worker 0 has trained steps 1 to 3 of an execution of six, and must stop at
// the end of that execution. The worker that rejoins must receive the request
// to stop too.
TEST_F(SimRunTest, StopWithinAnExecutionOutlivesARejoin) {
  RunPlan plan = PlanOf(SmallCase(R"(faults:
  - id: crash
    at: {worker: 1, step: 4, point: step.begin}
    do: crash
expect: {outcome: recovers}
)"));
  plan.launch.restart = RestartPolicy::kRejoin;
  plan.train.cluster.on_loss = OnLoss::kRejoin;
  plan.train.steps_per_execution = 6;
  plan.train.horizon.stop_at_step = 2;
  const RunLog log = Run(plan);
  ASSERT_THAT(log.launchers, SizeIs(2)) << "stopped, and started again";
  EXPECT_EQ(log.launchers[0].exit_code, static_cast<int>(WorkerExit::kStopped));
  EXPECT_EQ(log.launchers[0].result->steps, 6u);
  EXPECT_EQ(log.launchers[1].exit_code, 0);
}

TEST_F(SimRunTest, IncarnationsComeByWorkerThenIncarnation) {
  const RunLog log = Run(PlanOf(CrashCase()));
  std::vector<std::pair<int, int>> incarnations;
  for (const IncarnationEvents& incarnation : log.incarnations) {
    incarnations.emplace_back(incarnation.worker, incarnation.number);
    EXPECT_EQ(incarnation.events.front().kind, RecordKind::kWorkerStarted);
  }
  EXPECT_EQ(incarnations,
            (std::vector<std::pair<int, int>>{{0, 1}, {0, 2}, {1, 1}, {1, 2}}));
  EXPECT_EQ(log.left.checkpoints.size(), 2u) << "keep: 2";
  EXPECT_TRUE(log.left.processes_listed);
}

RunPlan PreemptedTwice() {
  RunPlan plan = PlanOf(CleanCase());
  for (const int incarnation : {1, 2}) {
    plan.faults.faults.push_back({.id = fmt::format("notice-{}", incarnation),
                                  .site = {.worker = 1,
                                           .incarnation = incarnation,
                                           .point = Point::kDataNext},
                                  .kind = FaultKind::kPreempt,
                                  .with = {.grace = std::chrono::seconds(10)}});
  }
  return plan;
}

TEST_F(SimRunTest, JobThatStoppedOnANoticeIsStartedAgain) {
  const RunLog log = Run(PreemptedTwice());
  ASSERT_THAT(log.launchers, SizeIs(3));
  EXPECT_EQ(log.launchers[0].exit_code, 143);
  EXPECT_EQ(log.launchers[1].exit_code, 143);
  EXPECT_EQ(log.launchers[2].exit_code, 0);
  EXPECT_EQ(log.ending, RunEnding::kExited);
}

TEST_F(SimRunTest, QueueHasItsPatience) {
  RunPlan plan = PreemptedTwice();
  plan.max_requeues = 1;
  const RunLog log = Run(plan);
  ASSERT_THAT(log.launchers, SizeIs(2));
  EXPECT_EQ(log.launchers[1].exit_code, 143);
}

TEST_F(SimRunTest, RunThatTakesTooLongIsCutOff) {
  RunPlan plan = PlanOf(CleanCase());
  plan.faults.faults = {{.id = "slow",
                         .site = {.worker = 0, .point = Point::kLoadBegin},
                         .kind = FaultKind::kSlow},
                        {.id = "crash",
                         .site = {.worker = 0, .incarnation = kAnyIncarnation},
                         .kind = FaultKind::kCrash,
                         .with = {.times = FaultTimes::kAlways}}};
  plan.launch.max_restarts = 1'000'000;
  plan.total_limit = std::chrono::seconds(2);
  const RunLog log = Run(plan);
  EXPECT_EQ(log.ending, RunEnding::kTimedOut);
  EXPECT_THAT(log.ending_detail, HasSubstr("launcher"));
  ASSERT_THAT(log.launchers, SizeIs(1));
  EXPECT_THAT(
      log.launchers[0].events,
      Contains(testing::Field(&RecordEvent::kind, RecordKind::kRestarting)));
}

TEST_F(SimRunTest, PowerLossTakesTheLauncherToo) {
  RunPlan plan = PlanOf(CleanCase());
  plan.faults.faults = {{.id = "dark",
                         .site = {.worker = 0, .step = 9},
                         .kind = FaultKind::kPowerLoss}};
  const RunLog log = Run(plan);
  ASSERT_THAT(log.launchers, SizeIs(2));
  EXPECT_EQ(log.launchers[0].exit_code, 137);
  EXPECT_FALSE(log.launchers[0].result);
  EXPECT_EQ(log.launchers[1].exit_code, 0);
}

// Pending events of processes that have ended cause no delay.
TEST_F(SimRunTest, AfterAPowerLossTheJobIsStartedAgainAtOnce) {
  RunPlan plan = PlanOf(CleanCase());
  const FaultSite site = {.worker = 0, .step = 9};
  plan.faults.faults = {
      {.id = "notice",
       .site = site,
       .kind = FaultKind::kPreempt,
       .with = {.grace = std::chrono::seconds(10)}},
      {.id = "cut",
       .site = site,
       .kind = FaultKind::kPartition,
       .with = {.duration = std::chrono::seconds(20)}},
      {.id = "dark", .site = site, .kind = FaultKind::kPowerLoss}};
  const RunLog log = Run(plan);
  ASSERT_THAT(log.launchers, SizeIs(2));
  EXPECT_EQ(log.launchers[1].exit_code, 0);
  EXPECT_LT(log.virtual_seconds, 1);
}

}  // namespace
}  // namespace gauntlet
