#include "reports/causes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/reports/sample_record.h"

namespace gauntlet {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// The first event of that kind by this worker and incarnation.
EventPlace Find(const Record& record, int worker, int incarnation,
                RecordKind kind) {
  for (const EventPlace& place : EventsByTime(record)) {
    const LifeEvents& life = LifeOf(record, place);
    if (life.worker == worker && life.life == incarnation &&
        EventAt(record, place).kind == kind) {
      return place;
    }
  }
  ADD_FAILURE() << RecordKindName(kind) << " is missing";
  return {};
}

// Kinds from the event's first cause to the event.
std::vector<RecordKind> ChainTo(const Record& record, EventPlace place) {
  const std::map<EventPlace, EventPlace> causes = CausesOf(record);
  std::vector<RecordKind> chain = {EventAt(record, place).kind};
  for (auto at = causes.find(place); at != causes.end();
       at = causes.find(at->second)) {
    chain.insert(chain.begin(), EventAt(record, at->second).kind);
  }
  return chain;
}

TEST(CausesTest, ChainGoesFromTheFaultToTheResumption) {
  const Record record = SampleRecord();
  for (const int worker : {0, 1}) {
    EXPECT_THAT(ChainTo(record, Find(record, worker, 2, RecordKind::kResumed)),
                ElementsAre(RecordKind::kFaultFired, RecordKind::kWorkerLost,
                            RecordKind::kLifeBegin, RecordKind::kResumed));
  }
  EXPECT_THAT(ChainTo(record, Find(record, 0, 1, RecordKind::kLifeEnd)),
              ElementsAre(RecordKind::kFaultFired, RecordKind::kWorkerLost,
                          RecordKind::kLifeEnd));
}

TEST(CausesTest, StartOfTheJobHasNoCause) {
  const Record record = SampleRecord();
  EXPECT_FALSE(
      CausesOf(record).contains(Find(record, 1, 1, RecordKind::kLifeBegin)));
}

TEST(CausesTest, FaultThatEndedItsProcessExplainsALoss_NotALaterHarmlessOne) {
  Record record = SampleRecord();
  const int64_t crash_ns = record.lives[2].events.back().t_ns;
  record.lives.push_back(
      {.worker = 2,
       .life = 1,
       .events = {{.kind = RecordKind::kFaultFired,
                   .t_ns = crash_ns + 1,
                   .detail = "slow"},
                  {.kind = RecordKind::kStep, .t_ns = crash_ns + 2}}});
  const EventPlace loss = Find(record, 0, 1, RecordKind::kWorkerLost);
  const EventPlace cause = CausesOf(record).at(loss);
  EXPECT_EQ(EventAt(record, cause).detail, "crash");
}

TEST(CausesTest, SingleWorkerIsRestartedForItsOwnFault) {
  Record record = SampleRecord();
  record.lives.erase(record.lives.begin(), record.lives.begin() + 2);
  EXPECT_THAT(ChainTo(record, Find(record, 1, 2, RecordKind::kResumed)),
              ElementsAre(RecordKind::kFaultFired, RecordKind::kLifeBegin,
                          RecordKind::kResumed));
}

TEST(CausesTest, LossAfterTheRestartIsNotExplainedByTheFaultBeforeIt) {
  Record record = SampleRecord();
  RecordEvent& late = record.lives[1].events[4];  // step 4 of worker 0
  late.kind = RecordKind::kWorkerLost;
  EXPECT_THAT(ChainTo(record, Find(record, 0, 2, RecordKind::kWorkerLost)),
              ElementsAre(RecordKind::kWorkerLost));
}

TEST(CausesTest, NoticeLeadsToTheAgreedStop) {
  Record record = SampleRecord();
  std::vector<RecordEvent>& events = record.lives[2].events;
  events.push_back(
      {.kind = RecordKind::kNotice, .t_ns = events.back().t_ns + 1});
  events.push_back(
      {.kind = RecordKind::kStopAgreed, .t_ns = events.back().t_ns + 1});
  EXPECT_THAT(ChainTo(record, Find(record, 1, 1, RecordKind::kStopAgreed)),
              ElementsAre(RecordKind::kFaultFired, RecordKind::kNotice,
                          RecordKind::kStopAgreed));
}

TEST(CausesTest, RecordWithoutEventsHasNone) {
  EXPECT_THAT(CausesOf({}), IsEmpty());
}

}  // namespace
}  // namespace gauntlet
