// Order of the events of a process, and of the processes of a worker.
#include "harness/oracle/process/process_order.h"

#include <algorithm>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/oracle/history/check.h"
#include "tests/harness/oracle/spoiled_run.h"

namespace gauntlet {
namespace {

using K = RecordKind;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> FindingsIn(const Record& record) {
  Check check(Invariant::kHistoryConsistent);
  CheckProcessOrder(record, check);
  std::vector<std::string> names;
  for (const Finding& one : check.report().findings) names.push_back(one.name);
  return names;
}

std::vector<RecordEvent>& EventsOf(Record& record, int worker,
                                   int incarnation) {
  return std::ranges::find_if(record.incarnations,
                              [&](const IncarnationEvents& one) {
                                return one.worker == worker &&
                                       one.number == incarnation;
                              })
      ->events;
}

// Returns a record in which worker 1 skips an incarnation number.
Record SkippedStart() {
  Record record = RecoveredRun().record();
  for (IncarnationEvents& incarnation : record.incarnations) {
    if (incarnation.worker == 1 && incarnation.number == 2)
      incarnation.number = 3;
  }
  return record;
}

TEST(ProcessOrderTest, OrderedRunHasNoFinding) {
  EXPECT_THAT(FindingsIn(RecoveredRun().record()), IsEmpty());
}

TEST(ProcessOrderTest, FirstEventMustBeTheStart) {
  ScriptedRun run = RecoveredRun();
  run.events.Remove(kNextChief, K::kWorkerStarted);
  EXPECT_THAT(FindingsIn(run.record()), ElementsAre("beginning"));
}

TEST(ProcessOrderTest, ProcessMustStartOnce) {
  ScriptedRun run = RecoveredRun();
  run.events.Repeat(kNextChief, K::kWorkerStarted);
  EXPECT_THAT(FindingsIn(run.record()), ElementsAre("beginning"));
}

TEST(ProcessOrderTest, NoEventMayFollowTheExit) {
  ScriptedRun run = RecoveredRun();
  run.events.Append(kNextChief, {.kind = K::kStep, .step = 9});
  EXPECT_THAT(FindingsIn(run.record()), ElementsAre("after-end"));
}

TEST(ProcessOrderTest, TimesOfAProcessMustIncrease) {
  Record record = RecoveredRun().record();
  std::vector<RecordEvent>& events = EventsOf(record, 0, 2);
  events[5].t_ns = events[4].t_ns - kStampSlackNs;
  EXPECT_THAT(FindingsIn(record), IsEmpty());
  --events[5].t_ns;
  EXPECT_THAT(FindingsIn(record), ElementsAre("time"));
}

TEST(ProcessOrderTest, IncarnationsMustBeComplete) {
  EXPECT_THAT(FindingsIn(SkippedStart()), ElementsAre("incarnations"));
}

TEST(ProcessOrderTest, IncarnationsMustBeUnique) {
  Record record = RecoveredRun().record();
  for (IncarnationEvents& incarnation : record.incarnations) {
    if (incarnation.worker == 1) incarnation.number = 1;
  }
  EXPECT_THAT(FindingsIn(record), ElementsAre("incarnations"));
}

TEST(ProcessOrderTest, WorkerMaySkipAStart_IfFewerSuffice) {
  Record record = SkippedStart();
  record.setup.min_workers = 2;
  EXPECT_THAT(FindingsIn(record), ElementsAre("incarnations"));
  record.setup.min_workers = 1;
  EXPECT_THAT(FindingsIn(record), IsEmpty());
}

TEST(ProcessOrderTest, WorkerMaySkipAStart_IfWorkersRejoin) {
  Record record = SkippedStart();
  record.setup.rejoins = true;
  EXPECT_THAT(FindingsIn(record), IsEmpty());
}

TEST(ProcessOrderTest, WorkerMaySkipAStart_WithFewerWorkers) {
  Record record = SkippedStart();
  record.setup.workers_per_attempt = {2, 1, 2};
  EXPECT_THAT(FindingsIn(record), IsEmpty());
  record.setup.workers_per_attempt = {2, 2, 1};
  EXPECT_THAT(FindingsIn(record), ElementsAre("incarnations"));
}

TEST(ProcessOrderTest, ManyMissingStartsAreCheckedFast) {
  Record record = SkippedStart();
  record.incarnations.back().number = std::numeric_limits<int>::max();
  record.setup.workers_per_attempt = {2, 1};
  EXPECT_THAT(FindingsIn(record), IsEmpty());
  record.setup.workers_per_attempt = {2, 1, 2};
  EXPECT_THAT(FindingsIn(record), ElementsAre("incarnations"));
  record.setup.workers_per_attempt = {};
  EXPECT_THAT(FindingsIn(record), ElementsAre("incarnations"));
}

TEST(ProcessOrderTest, ProcessOrderIsPartOfTheVerdict) {
  ScriptedRun run = RecoveredRun();
  run.events.Repeat(kNextChief, K::kWorkerStarted);
  EXPECT_THAT(FindingsOf(run), Contains("history-consistent/beginning"));
}

}  // namespace
}  // namespace gauntlet
