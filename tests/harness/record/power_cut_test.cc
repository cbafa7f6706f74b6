#include "harness/record/power_cut.h"

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

constexpr int64_t kCutAt = 7;

Record RecordOfEnds(const std::vector<int>& workers) {
  Record record;
  record.machine.push_back({.kind = RecordKind::kPowerCut, .t_ns = kCutAt});
  for (const int worker : workers) {
    record.machine.push_back({.kind = RecordKind::kProcessEnded,
                              .t_ns = kCutAt,
                              .about = worker,
                              .reason = RecordReason::kSignal});
  }
  return record;
}

std::string EndedOf(const Record& record) {
  return ProcessesEndedBy(record, record.machine.front());
}

TEST(PowerCutTest, NamesTheProcessesThatItEnded) {
  EXPECT_EQ(EndedOf(RecordOfEnds({kLauncherWorker, 0, 1, 2, 3})),
            "the launcher, workers 0-3");
  EXPECT_EQ(EndedOf(RecordOfEnds({0, 1, 4})), "workers 0-1, 4");
  EXPECT_EQ(EndedOf(RecordOfEnds({2})), "worker 2");
  EXPECT_EQ(EndedOf(RecordOfEnds({kLauncherWorker})), "the launcher");
  EXPECT_EQ(EndedOf(RecordOfEnds({})), "");
}

TEST(PowerCutTest, LeavesOutProcessesThatEndedOtherwise) {
  Record record = RecordOfEnds({0, 1, 2});
  record.machine[1].t_ns = kCutAt + 1;
  record.machine[2].reason = RecordReason::kExited;
  EXPECT_EQ(EndedOf(record), "worker 2");
}

TEST(PowerCutTest, NamesTheHosts) {
  Record record = RecordOfEnds({kLauncherWorker, 0, 1});
  EXPECT_EQ(PowerCutText(record, record.machine.front()),
            "all hosts lose power, which ends the launcher, workers 0-1");
  record = RecordOfEnds({2});
  record.machine.front().about = 2;
  EXPECT_EQ(PowerCutText(record, record.machine.front()),
            "the host of worker 2 loses power, which ends worker 2");
  EXPECT_EQ(HostsText(record.machine.front()), "the host of worker 2");
  record = RecordOfEnds({});
  EXPECT_EQ(PowerCutText(record, record.machine.front()),
            "all hosts lose power");
}

}  // namespace
}  // namespace gauntlet
