#include "engine/train/launcher/worker_loss.h"

#include <vector>

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

constexpr int kLost = static_cast<int>(WorkerExit::kLostWorker);
constexpr int kFailed = static_cast<int>(WorkerExit::kFailed);

Loss Killed(int worker) { return {.worker = worker, .exited = {.signal = 9}}; }

Loss PutDown(int worker) {
  Loss loss = Killed(worker);
  loss.killed_by_launcher = true;
  return loss;
}

// Returns the loss of a worker that left because of others.
Loss Left(int worker, const std::string& failure) {
  return {.worker = worker, .exited = {.code = kLost}, .failure = failure};
}

Loss LostItsDevice(int worker) {
  Loss loss = Left(worker, "no device");
  loss.own_device_failed = true;
  return loss;
}

TEST(WorkerLossTest, EachEndHasItsSentence) {
  EXPECT_EQ(Describe(Killed(1)), "worker 1 was killed by signal 9");
  EXPECT_EQ(Describe(PutDown(1)),
            "worker 1 did not answer in time, and was killed");
  EXPECT_EQ(Describe(Left(1, "lost worker 2")),
            "worker 1 exited: lost worker 2");
  EXPECT_EQ(Describe(Left(1, "")),
            "worker 1 exited: another worker, the disk or memory failed");
  EXPECT_EQ(Describe(LostItsDevice(1)), "worker 1 exited: no device");
  EXPECT_EQ(Describe({.worker = 1, .exited = {.code = 77}}),
            "worker 1 exited with code 77");
  EXPECT_EQ(
      Describe({.worker = 1, .exited = {.code = kFailed}, .failure = "why"}),
      "worker 1 exited with code " + std::to_string(kFailed) + ": why");
}

// A lost device is named even if the launcher had to kill the process.
TEST(WorkerLossTest, ReportOfADeviceFailureOutranksTheExit) {
  Loss loss = LostItsDevice(1);
  loss.exited = {.signal = 9};
  loss.killed_by_launcher = true;
  EXPECT_EQ(Describe(loss), "worker 1 exited: no device");
}

TEST(WorkerLossTest, ExitCodeOfAWorkerIsNoDeath) {
  EXPECT_TRUE(Died({.signal = 9}));
  EXPECT_TRUE(Died({.code = 77})) << "no code of a worker's";
  for (const WorkerExit exit :
       {WorkerExit::kDone, WorkerExit::kFailed, WorkerExit::kBadInput,
        WorkerExit::kNoCheckpoint, WorkerExit::kOtherJob,
        WorkerExit::kNotFinite, WorkerExit::kStartLater,
        WorkerExit::kLostWorker, WorkerExit::kStopped}) {
    EXPECT_FALSE(Died({.code = static_cast<int>(exit)}));
  }
  EXPECT_FALSE(FailedItself(Left(1, "lost worker 2")));
  EXPECT_TRUE(FailedItself(LostItsDevice(1)));
}

TEST(WorkerLossTest, FirstWorkerThatDiedIsTheCulprit) {
  const std::vector<Loss> losses = {Left(0, "lost worker 2"), PutDown(3),
                                    Killed(2), Killed(1)};
  ASSERT_NE(CulpritOf(losses), nullptr);
  EXPECT_EQ(CulpritOf(losses)->worker, 2);
  EXPECT_EQ(DescribeAll(losses), "worker 2 was killed by signal 9");
}

TEST(WorkerLossTest, WorkerWithALostDeviceIsACulpritLikeADeadOne) {
  const std::vector<Loss> losses = {Left(0, "lost worker 2"), LostItsDevice(2)};
  ASSERT_NE(CulpritOf(losses), nullptr);
  EXPECT_EQ(CulpritOf(losses)->worker, 2);
  EXPECT_EQ(DescribeAll(losses), "worker 2 exited: no device");
}

TEST(WorkerLossTest, UnresponsiveWorker_IsTheCulprit_AndNamedLast) {
  const std::vector<Loss> losses = {Left(0, "step 3 took too long"),
                                    PutDown(1)};
  ASSERT_NE(CulpritOf(losses), nullptr);
  EXPECT_EQ(CulpritOf(losses)->worker, 1);
  EXPECT_EQ(DescribeAll(losses),
            "worker 0 exited: step 3 took too long; "
            "worker 1 did not answer in time, and was killed");
}

TEST(WorkerLossTest, HasNoCulprit_WhenSeveralWereKilledOrAllLeft) {
  EXPECT_EQ(CulpritOf(std::vector<Loss>{PutDown(0), PutDown(1)}), nullptr);
  const std::vector<Loss> left = {Left(0, "lost worker 1"),
                                  Left(1, "lost worker 0")};
  EXPECT_EQ(CulpritOf(left), nullptr);
  EXPECT_EQ(DescribeAll(left), "worker 0 exited: lost worker 1");
}

}  // namespace
}  // namespace gauntlet
