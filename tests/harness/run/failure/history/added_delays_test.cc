// Delays that exceeded a time limit only together.
#include "harness/run/failure/history/added_delays.h"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gauntlet {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

RecordEvent Fired(double seconds, RecordKind kind = RecordKind::kFaultAgain) {
  return {
      .kind = kind, .t_ns = static_cast<int64_t>(seconds * 1e9), .detail = "s"};
}

// Returns a record in which worker 0 declares worker 1 lost after 20 s, by the
// limit of a step, 4 s. Worker 1 has these events of the fault s.
Record RecordOfLoss(RecordFault fault, std::vector<RecordEvent> events) {
  Record record;
  record.setup.step_timeout_ns = 4 * kSecond;
  fault.id = "s";
  record.faults = {std::move(fault)};
  record.incarnations = {
      {.worker = 0,
       .number = 1,
       .events = {{.kind = RecordKind::kWorkerLost,
                   .t_ns = 20 * kSecond,
                   .about = 1,
                   .reason = RecordReason::kDeadline,
                   .limit_ns = 4 * kSecond}}},
      {.worker = 1, .number = 1, .events = std::move(events)}};
  return record;
}

std::string TextOf(const Record& record) {
  return AddedDelaysText(record, FindFirstSign(record, 0, 30 * kSecond));
}

TEST(AddedDelaysTest, DelaysThatExceedTheLimitTogetherAreAddedUp) {
  const RecordFault slow = {.kind = "slow", .latency_ns = 3 * kSecond};
  const RecordFault slower = {.kind = "slow", .latency_ns = 5 * kSecond};
  const RecordFault pause = {.kind = "pause", .duration_ns = 3 * kSecond};
  struct DelayCase {
    RecordFault fault;
    std::vector<RecordEvent> events;
    const char* text;
  };
  const DelayCase kCases[] = {
      {slow,
       {Fired(16, RecordKind::kFaultFired), Fired(19)},
       ", as delays add up: fault s fired 2 times (3s each) in worker 1 during "
       "the wait, 6s in all"},
      {pause,
       {Fired(16, RecordKind::kFaultFired), Fired(19)},
       ", as delays add up: fault s fired 2 times (3s each) in worker 1 during "
       "the wait, 6s in all"},
      // The first delay ended before the wait, or the last came after it.
      {slow, {Fired(12, RecordKind::kFaultFired), Fired(19)}, ""},
      {slow, {Fired(16, RecordKind::kFaultFired), Fired(21)}, ""},
      // One delay is longer than the limit.
      {slower, {Fired(12, RecordKind::kFaultFired), Fired(16)}, ""},
  };
  for (const auto& [fault, events, text] : kCases) {
    EXPECT_EQ(TextOf(RecordOfLoss(fault, events)), text);
  }
}

TEST(AddedDelaysTest, DelaysOfTwoFaultsAreAddedUp) {
  Record record = RecordOfLoss(
      {.kind = "slow", .latency_ns = 3 * kSecond},
      {Fired(16, RecordKind::kFaultFired),
       {.kind = RecordKind::kFaultFired, .t_ns = 19 * kSecond, .detail = "t"}});
  record.faults.push_back(
      {.id = "t", .kind = "slow", .latency_ns = 2 * kSecond});
  EXPECT_EQ(TextOf(record),
            ", as delays add up: fault s fired 1 time (3s) and fault t fired 1 "
            "time (2s) in worker 1 during the wait, 5s in all");
}

// Heartbeats are late too, but none waits for another, so their delays do not
// add up.
TEST(AddedDelaysTest, FramesOfAnExchangeAreAddedUpAsFarAsTheLimit) {
  Record record =
      RecordOfLoss({.kind = "delay", .latency_ns = 3 * kSecond}, {});
  for (const int64_t seconds : {12, 14, 15, 16, 17, 18, 21}) {
    record.machine.push_back({.kind = RecordKind::kFrameLate,
                              .t_ns = seconds * kSecond,
                              .detail = "s",
                              .limit_ns = 3 * kSecond});
  }
  EXPECT_EQ(TextOf(record),
            ", as delays add up: fault s made 5 frames late during the wait "
            "(heartbeats among them), and 2 frames of an exchange, one after "
            "the other, take 6s (3s each)");
  record.incarnations[0].events[0].reason = RecordReason::kSilent;
  EXPECT_EQ(TextOf(record), "") << "no exchange exceeded a limit";
}

TEST(AddedDelaysTest, ShortDelaysOfManyFramesPassAtTheSameTime) {
  Record record = RecordOfLoss({.kind = "packet_loss"}, {});
  for (int64_t i = 0; i < 40; ++i) {
    record.machine.push_back({.kind = RecordKind::kFrameLate,
                              .t_ns = 16 * kSecond + i,
                              .detail = "s",
                              .limit_ns = kSecond / 5});
  }
  EXPECT_EQ(TextOf(record), "");
}

}  // namespace
}  // namespace gauntlet
