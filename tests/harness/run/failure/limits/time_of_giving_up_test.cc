// The time at which a launcher gives up.
#include "harness/run/failure/limits/time_of_giving_up.h"

#include <cstdint>
#include <optional>

#include <gtest/gtest.h>

#include "harness/oracle/history/outline.h"

namespace gauntlet {
namespace {

// Returns a run whose launcher restarted the job twice, after these pauses, and
// may do so four times. Each attempt lasts 100 ns.
Record RestartedRun(int64_t first_pause_ns, int64_t second_pause_ns) {
  Record record;
  record.setup.max_restarts = 4;
  record.setup.first_restart_pause_ns = first_pause_ns;
  record.setup.restart_pause_ns = 1000;
  const auto ends = [](int64_t t_ns) {
    return RecordEvent{.kind = RecordKind::kAttemptEnds,
                       .t_ns = t_ns,
                       .reason = RecordReason::kWorkerLeft};
  };
  const auto restarts = [](int64_t t_ns, int64_t pause_ns) {
    return RecordEvent{
        .kind = RecordKind::kRestarting, .t_ns = t_ns, .limit_ns = pause_ns};
  };
  record.ending = RunEnding::kTimedOut;
  record.launchers = {
      {.restarts = 2,
       .events = {{.kind = RecordKind::kLauncherBegin, .t_ns = 1000},
                  ends(1100),
                  restarts(1100, first_pause_ns),
                  ends(1200 + first_pause_ns),
                  restarts(1200 + first_pause_ns, second_pause_ns)}}};
  return record;
}

std::optional<int64_t> TimeIn(const Record& record) {
  return TimeOfGivingUp(record, InterruptionsOf(Outline(record)));
}

TEST(TimeOfGivingUpTest, LongestAttempt_HasNoPause) {
  const Record record = RestartedRun(10, 20);
  EXPECT_EQ(LongestAttemptNs(record, InterruptionsOf(Outline(record))), 100);
}

TEST(TimeOfGivingUpTest, LongestAttempt_MayBeTheFirst) {
  Record record = RestartedRun(10, 20);
  record.launchers[0].events[0].t_ns = 500;
  EXPECT_EQ(LongestAttemptNs(record, InterruptionsOf(Outline(record))), 600);
}

// A launcher that is started again begins its first attempt without a restart.
TEST(TimeOfGivingUpTest, LongestAttempt_IsThatOfAnyLauncher) {
  Record record = RestartedRun(10, 20);
  const RecordEvent begin = {.kind = RecordKind::kLauncherBegin, .t_ns = 5000};
  const RecordEvent end = {.kind = RecordKind::kAttemptEnds,
                           .t_ns = 5150,
                           .reason = RecordReason::kWorkerLeft};
  const RecordEvent restart = {.kind = RecordKind::kRestarting, .t_ns = 5150};
  record.launchers.push_back({.events = {begin, end, restart}});
  EXPECT_EQ(LongestAttemptNs(record, InterruptionsOf(Outline(record))), 150);
}

// An attempt that reaches a new step, or outlasts the pause, does not double
// the pause.
TEST(TimeOfGivingUpTest, PausesStay_IfTheyDidNotGrow) {
  // One attempt of 100 ns, and four times a pause of 200 and an attempt of 100.
  EXPECT_EQ(TimeIn(RestartedRun(200, 200)), 1300);
}

TEST(TimeOfGivingUpTest, PausesDouble_IfTheyGrew) {
  // One attempt of 100 ns, and four times a pause and an attempt of 100. The
  // pauses are 200, 400, 800 and 1000.
  EXPECT_EQ(TimeIn(RestartedRun(200, 400)), 2900);
}

TEST(TimeOfGivingUpTest, IsNotKnownWithoutARestart) {
  Record record = RestartedRun(10, 20);
  record.launchers[0].events.resize(2);
  EXPECT_EQ(TimeIn(record), std::nullopt);
}

}  // namespace
}  // namespace gauntlet
