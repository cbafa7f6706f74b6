// Changes of delays, and of the limits that they exceeded.
#include "harness/run/failure/remedy/delay_remedy.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

RunSetup SetupOfLimits() {
  return {.silence_limit_ns = 5 * kSecond,
          .step_timeout_ns = 10 * kSecond,
          .save_timeout_ns = 60 * kSecond};
}

// A loss of worker 1 after 40 s, and the times at which the fault fired.
struct Loss {
  RecordFault fault;
  RecordReason reason;
  int64_t limit_s;
  std::vector<int64_t> fired_s;
};

std::string ShorterDelayOf(const Loss& loss) {
  Record record;
  record.setup = SetupOfLimits();
  record.faults = {loss.fault};
  record.faults[0].id = "n";
  std::vector<RecordEvent> fired;
  for (const int64_t seconds : loss.fired_s) {
    fired.push_back({.kind = fired.empty() ? RecordKind::kFaultFired
                                           : RecordKind::kFaultAgain,
                     .t_ns = seconds * kSecond,
                     .detail = "n"});
  }
  record.incarnations = {{.worker = 0,
                          .number = 1,
                          .events = {{.kind = RecordKind::kWorkerLost,
                                      .t_ns = 40 * kSecond,
                                      .about = 1,
                                      .reason = loss.reason,
                                      .limit_ns = loss.limit_s * kSecond}}},
                         {.worker = 1, .number = 1, .events = fired}};
  return ShorterDelay(record, record.faults[0],
                      FindFirstSign(record, 0, 50 * kSecond));
}

TEST(DelayRemedyTest, DelayIsToBeShorterThanTheLimitThatItExceeded) {
  const std::pair<Loss, const char*> kCases[] = {
      {{{.kind = "partition", .duration_ns = 20 * kSecond},
        RecordReason::kSilent,
        5,
        {34}},
       "set the duration of fault n (20s) to 2500ms or less, well below "
       "cluster.heartbeat.lost_after (5s)"},
      {{{.kind = "pause", .duration_ns = 20 * kSecond},
        RecordReason::kSilent,
        5,
        {34}},
       "set the duration of fault n (20s) to 2500ms or less, well below "
       "cluster.heartbeat.lost_after (5s), or raise "
       "cluster.heartbeat.lost_after (5s) and cluster.step_timeout (10s) to "
       "40s or more, well above the 20s of the fault"},
      {{{.kind = "slow", .latency_ns = 12 * kSecond},
        RecordReason::kDeadline,
        10,
        {30}},
       "set the latency of fault n (12s) to 5s or less, well below "
       "cluster.step_timeout (10s), or raise cluster.step_timeout (10s) to 24s "
       "or more, well above the 12s of the fault"},
      {{{.kind = "hang"}, RecordReason::kDeadline, 10, {30}},
       "set the duration of fault n, which has no end, to 5s or less, well "
       "below cluster.step_timeout (10s)"},
      {{{.kind = "slow", .latency_ns = 6 * kSecond},
        RecordReason::kDeadline,
        10,
        {30, 36}},
       "lower the latency of fault n (6s), as delays that add up (12s) must "
       "stay below cluster.step_timeout (10s), or raise cluster.step_timeout "
       "above 12s"},
      // The first loss exceeded no limit of the scenario; the second fault is
      // no delay.
      {{{.kind = "partition", .duration_ns = 20 * kSecond},
        RecordReason::kClosed,
        5,
        {34}},
       ""},
      {{{.kind = "crash"}, RecordReason::kDeadline, 10, {30}}, ""},
  };
  for (const auto& [loss, text] : kCases) {
    EXPECT_EQ(ShorterDelayOf(loss), text) << loss.fault.kind;
  }
}

TEST(DelayRemedyTest, DelayWithoutAnEffectIsToBeLonger) {
  const std::pair<RecordFault, const char*> kCases[] = {
      {{.id = "n", .kind = "slow", .latency_ns = kSecond},
       "set the latency of fault n (1s) to 20s, well above "
       "cluster.step_timeout (10s), the limit of a wait for the worker"},
      {{.id = "n", .kind = "slow", .in_save = true, .latency_ns = kSecond},
       "set the latency of fault n (1s) to 2m, well above "
       "cluster.save_timeout (1m), the limit of a wait for the worker"},
      {{.id = "n", .kind = "pause", .duration_ns = kSecond},
       "set the duration of fault n (1s) to 10s, well above "
       "cluster.heartbeat.lost_after (5s), the limit of a wait for the "
       "worker"},
      // A fault without an end, a delay that is long enough, and a fault that
      // is no delay.
      {{.id = "n", .kind = "pause"}, ""},
      {{.id = "n", .kind = "slow", .latency_ns = 20 * kSecond}, ""},
      {{.id = "n", .kind = "crash"}, ""},
  };
  for (const auto& [fault, text] : kCases) {
    EXPECT_EQ(LongerDelay(SetupOfLimits(), fault), text) << fault.kind;
  }
}

}  // namespace
}  // namespace gauntlet
