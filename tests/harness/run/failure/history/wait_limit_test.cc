// Time limits after which a worker was declared lost.
#include "harness/run/failure/history/wait_limit.h"

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

RunSetup SetupWithLimits() {
  return {.silence_limit_ns = 5 * kSecond,
          .step_timeout_ns = 4 * kSecond,
          .save_timeout_ns = 60 * kSecond,
          .start_timeout_ns = 600 * kSecond};
}

TEST(WaitLimitTest, LossNamesTheKeysThatSetItsLimit) {
  struct LossCase {
    int emitter;
    RecordReason reason;
    int64_t seconds;
    const char* text;  // "" if no key sets the limit
  };
  const LossCase kCases[] = {
      {0, RecordReason::kDeadline, 4, "cluster.step_timeout is 4s"},
      {0, RecordReason::kDeadline, 60, "cluster.save_timeout is 1m"},
      {0, RecordReason::kSilent, 5, "cluster.heartbeat.lost_after is 5s"},
      {0, RecordReason::kSilent, 4, ""},
      {0, RecordReason::kClosed, 4, ""},
      {0, RecordReason::kDeadline, 30, ""},
      {kLauncherWorker, RecordReason::kSilent, 9,
       "cluster.step_timeout, 4s, and cluster.heartbeat.lost_after, 5s, add up "
       "to 9s"},
      {kLauncherWorker, RecordReason::kSilent, 65,
       "cluster.save_timeout, 1m, and cluster.heartbeat.lost_after, 5s, add up "
       "to 65s"},
      {kLauncherWorker, RecordReason::kSilent, 600,
       "cluster.start_timeout is 10m"},
      {kLauncherWorker, RecordReason::kSilent, 4, ""},
  };
  for (const auto& [emitter, reason, seconds, text] : kCases) {
    const std::optional<WaitLimit> wait =
        LimitOfLoss(SetupWithLimits(), emitter,
                    {.kind = RecordKind::kWorkerLost,
                     .reason = reason,
                     .limit_ns = seconds * kSecond});
    EXPECT_EQ(wait ? LimitValueText(*wait) : "", text) << seconds;
  }
}

TEST(WaitLimitTest, SumOfTwoKeysIsNamedAsSuch) {
  EXPECT_EQ(LimitNameText({.key = "cluster.step_timeout",
                           .limit_ns = 4 * kSecond,
                           .added_ns = 5 * kSecond}),
            "the sum of cluster.step_timeout (4s) and "
            "cluster.heartbeat.lost_after (5s)");
  EXPECT_EQ(
      LimitNameText({.key = "cluster.step_timeout", .limit_ns = 4 * kSecond}),
      "cluster.step_timeout (4s)");
}

}  // namespace
}  // namespace gauntlet
