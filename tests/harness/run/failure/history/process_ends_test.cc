#include "harness/run/failure/history/process_ends.h"

#include <gtest/gtest.h>

#include "engine/worker_exit_code.h"

namespace gauntlet {
namespace {

RecordEvent Exit(int64_t t_ns, int worker, int64_t code) {
  return {.kind = RecordKind::kExited,
          .t_ns = t_ns,
          .count = code,
          .about = worker,
          .reason = RecordReason::kExited};
}

TEST(ProcessEndsTest, PrefersOtherEnds_ToExitsAfterALostWorker) {
  constexpr auto kLost = static_cast<int64_t>(WorkerExit::kLostWorker);
  Record record;
  record.launchers = {{.events = {Exit(1, 1, kLost), Exit(2, 2, 70)}}};
  const RecordEvent* first = FirstEnd(record, 0, 9);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(EndText(*first), "worker 2 exited with code 70");
  record.launchers[0].events.pop_back();
  first = FirstEnd(record, 0, 9);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->about, 1);
  EXPECT_EQ(FirstEnd(record, 2, 9), nullptr);
}

TEST(ProcessEndsTest, KillByTheLauncherIsTheLastChoice) {
  RecordEvent killed = Exit(1, 3, 137);
  killed.reason = RecordReason::kSignal;
  Record record;
  record.launchers = {{.events = {killed, Exit(2, 2, 70)}}};
  EXPECT_EQ(EndText(*FirstEnd(record, 0, 9)), "worker 3 was killed");
  record.launchers[0].events.insert(
      record.launchers[0].events.begin(),
      {.kind = RecordKind::kKillSent, .t_ns = 1, .about = 3});
  EXPECT_EQ(EndText(*FirstEnd(record, 0, 9)), "worker 2 exited with code 70");
}

// A simulated process exits with 134; SIGABRT ends a real one.
TEST(ProcessEndsTest, AbortReadsAlikeInBothWorlds) {
  RecordEvent end = Exit(1, 0, 134);
  EXPECT_EQ(EndText(end), "worker 0 aborted");
  end.reason = RecordReason::kSignal;
  EXPECT_EQ(EndText(end), "worker 0 aborted");
}

TEST(ProcessEndsTest, PowerCutComesBeforeTheEndsOfItsProcesses) {
  Record record;
  record.machine = {{.kind = RecordKind::kPowerCut, .t_ns = 5, .path = "w0"}};
  record.launchers = {{.events = {Exit(5, 0, 137)}}};
  const RecordEvent* const first = FirstEnd(record, 0, 9);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(EndText(*first), "all hosts lost power");
}

}  // namespace
}  // namespace gauntlet
