// Checkpoints are deleted only once the launcher has the result. If a process
// dies or is paused in between, the job still has its result, or all that the
// next attempt needs.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/train/launched_run.h"
#include "tests/engine/train/training_fixture.h"

namespace gauntlet {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

TrainOptions RunThatDeletes() {
  TrainOptions options = SmallRun();
  options.checkpoint.at_success = AtSuccess::kDeleteCheckpoints;
  return options;
}

FaultPlan CrashOfTheChief(Point point) {
  FaultPlan plan;
  plan.faults.push_back({.id = "crash",
                         .site = {.worker = 0, .point = point},
                         .kind = FaultKind::kCrash});
  return plan;
}

class AcknowledgementTest : public testing::Test {
 protected:
  LaunchedEnd Run(const FaultPlan& plan = {}) {
    return run_.Run({.workers = 2}, plan);
  }

  // Pauses the launcher, long before its workers finish.
  void PauseFor(Duration pause) {
    At(milliseconds(50), [this] { simulation().Stop(kLauncher); });
    At(milliseconds(50) + pause, [this] { simulation().Continue(kLauncher); });
  }
  void KillAt(Duration time) {
    At(time, [this] { simulation().Kill(kLauncher); });
  }

  std::vector<std::string> Checkpoints() {
    std::vector<std::string> names;
    const auto listed = simulation().storage("launcher").List("/ckpt");
    if (!listed.ok()) return names;
    for (const DirectoryEntry& entry : *listed) {
      if (entry.name.starts_with("step-")) names.push_back(entry.name);
    }
    return names;
  }

 private:
  static constexpr ProcessId kLauncher = 0;

  Simulation& simulation() { return run_.simulation(); }
  void At(Duration time, std::function<void()> what) {
    simulation().At(simulation().now() + time, std::move(what));
  }

  LaunchedRun run_{RunThatDeletes(), {}};
};

void ExpectDoneImmediately(const LaunchedEnd& end) {
  EXPECT_EQ(end.run, RunEnd::kAllExited);
  EXPECT_EQ(end.launch.exit_code, 0);
  EXPECT_EQ(end.launch.restarts, 0);
  ASSERT_TRUE(end.launch.result);
  EXPECT_EQ(end.launch.result->steps, kSteps);
}

TEST_F(AcknowledgementTest, DeletesAfterTheAcknowledgement) {
  const LaunchedEnd end = Run();
  ExpectDoneImmediately(end);
  EXPECT_THAT(end.Of(EventKind::kResultAcknowledged), SizeIs(1));
  EXPECT_THAT(end.Of(EventKind::kBackupDeleted), SizeIs(1));
  EXPECT_THAT(Checkpoints(), IsEmpty());
}

TEST_F(AcknowledgementTest, ChiefWaits_WhileTheLauncherIsPaused) {
  PauseFor(seconds(5));
  const LaunchedEnd end = Run();
  ExpectDoneImmediately(end);
  EXPECT_THAT(end.Of(EventKind::kBackupDeleted), SizeIs(1));
  EXPECT_THAT(Checkpoints(), IsEmpty());
}

// The pause is longer than the chief waits.
TEST_F(AcknowledgementTest, CheckpointsStay_IfTheLauncherIsPausedForTooLong) {
  PauseFor(seconds(60));
  const LaunchedEnd end = Run();
  ExpectDoneImmediately(end);
  EXPECT_THAT(end.Of(EventKind::kBackupDeleted), IsEmpty());
  EXPECT_THAT(Checkpoints(), Not(IsEmpty()));
  EXPECT_THAT(end.lines, Contains(HasSubstr("checkpoints kept: ")));
}

TEST_F(AcknowledgementTest, NothingIsDeleted_IfTheChiefDiesBeforeIt) {
  const LaunchedEnd end = Run(CrashOfTheChief(Point::kAcknowledge));
  ExpectDoneImmediately(end);
  EXPECT_THAT(end.Of(EventKind::kResultAcknowledged), IsEmpty());
  EXPECT_THAT(Checkpoints(), Not(IsEmpty()));
  EXPECT_THAT(end.launch.reason,
              HasSubstr("some checkpoints may not have been deleted"));
}

TEST_F(AcknowledgementTest, JobIsDone_IfTheChiefDiesAsItDeletes) {
  const LaunchedEnd end = Run(CrashOfTheChief(Point::kBackupDelete));
  ExpectDoneImmediately(end);
  EXPECT_THAT(end.Of(EventKind::kResultAcknowledged), SizeIs(1));
  EXPECT_THAT(Checkpoints(), Not(IsEmpty()));
}

TEST_F(AcknowledgementTest, JobFailsWithItsResult_IfTheDeletionDoes) {
  FaultPlan plan;
  plan.faults.push_back({.id = "error",
                         .site = {.worker = 0, .point = Point::kBackupDelete},
                         .kind = FaultKind::kErrno,
                         .with = {.times = FaultTimes::kAlways}});
  const LaunchedEnd end = Run(plan);
  EXPECT_EQ(end.launch.exit_code, 1);
  EXPECT_EQ(end.launch.restarts, 0);
  EXPECT_TRUE(end.launch.result);
  EXPECT_THAT(Checkpoints(), Not(IsEmpty()));
}

TEST_F(AcknowledgementTest, NothingIsDeleted_IfTheLauncherDiesBeforeIt) {
  PauseFor(seconds(60));
  KillAt(seconds(5));
  const LaunchedEnd end = Run();
  EXPECT_THAT(end.Of(EventKind::kFinished), SizeIs(2));
  EXPECT_THAT(end.Of(EventKind::kBackupDeleted), IsEmpty());
  EXPECT_THAT(Checkpoints(), Not(IsEmpty()));
}

}  // namespace
}  // namespace gauntlet
