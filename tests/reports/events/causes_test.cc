#include "reports/events/causes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/reports/sample_record.h"

namespace gauntlet {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

// Returns the first event of the kind by this worker and incarnation.
EventPlace Find(const Record& record, int worker, int number, RecordKind kind) {
  for (const EventPlace& place : EventsByTime(record)) {
    const IncarnationEvents& incarnation = IncarnationOf(record, place);
    if (incarnation.worker == worker && incarnation.number == number &&
        EventAt(record, place).kind == kind) {
      return place;
    }
  }
  ADD_FAILURE() << RecordKindName(kind) << " is missing";
  return {};
}

// Returns the kinds from the event's first cause to the event.
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
                            RecordKind::kWorkerStarted, RecordKind::kResumed));
  }
  EXPECT_THAT(ChainTo(record, Find(record, 0, 1, RecordKind::kWorkerExited)),
              ElementsAre(RecordKind::kFaultFired, RecordKind::kWorkerLost,
                          RecordKind::kWorkerExited));
}

// The exit of the peer closed the connection; a crash, which leaves no exit,
// goes back to its fault.
TEST(CausesTest, ClosedConnectionIsDueToTheExitOfThePeer) {
  Record record = SampleRecord();
  const EventPlace loss = Find(record, 0, 1, RecordKind::kWorkerLost);
  const EventPlace before = CausesOf(record).at(loss);
  EXPECT_EQ(EventAt(record, before).kind, RecordKind::kFaultFired);
  const RecordEvent lost = EventAt(record, loss);
  ASSERT_EQ(lost.reason, RecordReason::kClosed);
  for (IncarnationEvents& incarnation : record.incarnations) {
    if (incarnation.worker != *lost.about || incarnation.number != 1) continue;
    incarnation.events.front().count = *lost.about;  // its rank
    incarnation.events.push_back({.kind = RecordKind::kWorkerExited,
                                  .t_ns = lost.t_ns - 1,
                                  .count = 75});
  }
  const EventPlace after =
      CausesOf(record).at(Find(record, 0, 1, RecordKind::kWorkerLost));
  EXPECT_EQ(EventAt(record, after).kind, RecordKind::kWorkerExited);
}

TEST(CausesTest, StartOfTheJobHasNoCause) {
  const Record record = SampleRecord();
  EXPECT_FALSE(CausesOf(record).contains(
      Find(record, 1, 1, RecordKind::kWorkerStarted)));
}

TEST(CausesTest, FaultThatEndedItsProcessExplainsALoss_NotALaterHarmlessOne) {
  Record record = SampleRecord();
  const int64_t crash_ns = record.incarnations[2].events.back().t_ns;
  record.incarnations.push_back(
      {.worker = 2,
       .number = 1,
       .events = {{.kind = RecordKind::kFaultFired,
                   .t_ns = crash_ns + 1,
                   .detail = "slow"},
                  {.kind = RecordKind::kStep, .t_ns = crash_ns + 2}}});
  const EventPlace loss = Find(record, 0, 1, RecordKind::kWorkerLost);
  const EventPlace cause = CausesOf(record).at(loss);
  EXPECT_EQ(EventAt(record, cause).detail, "crash");
}

// The partition of worker 2 has ended. Worker 0 is cut off, and loses worker 1.
TEST(CausesTest, LaterFaultOfItsOwnLinksExplainsALoss) {
  using K = RecordKind;
  Record record;
  record.faults = {{.id = "a", .kind = "partition", .duration_ns = 5},
                   {.id = "b", .kind = "partition"}};
  record.incarnations = {
      {.worker = 0,
       .number = 1,
       .events = {{.kind = K::kWorkerStarted, .t_ns = 1},
                  {.kind = K::kFaultFired, .t_ns = 20, .detail = "b"},
                  {.kind = K::kWorkerLost, .t_ns = 30, .about = 1}}},
      {.worker = 2,
       .number = 1,
       .events = {{.kind = K::kWorkerStarted, .t_ns = 1},
                  {.kind = K::kFaultFired, .t_ns = 10, .detail = "a"},
                  {.kind = K::kStep, .t_ns = 25}}}};
  const auto cause = [](const Record& run) {
    const EventPlace loss = Find(run, 0, 1, K::kWorkerLost);
    return EventAt(run, CausesOf(run).at(loss)).detail;
  };
  EXPECT_EQ(cause(record), "b");
  record.faults[1].kind = "slow";
  EXPECT_EQ(cause(record), "a");
}

TEST(CausesTest, SingleWorkerIsRestartedForItsOwnFault) {
  Record record = SampleRecord();
  record.incarnations.erase(record.incarnations.begin(),
                            record.incarnations.begin() + 2);
  EXPECT_THAT(ChainTo(record, Find(record, 1, 2, RecordKind::kResumed)),
              ElementsAre(RecordKind::kFaultFired, RecordKind::kWorkerStarted,
                          RecordKind::kResumed));
}

TEST(CausesTest, LossAfterTheRestartIsNotExplainedByTheFaultBeforeIt) {
  Record record = SampleRecord();
  RecordEvent& late = record.incarnations[1].events[4];  // step 4 of worker 0
  late.kind = RecordKind::kWorkerLost;
  EXPECT_THAT(ChainTo(record, Find(record, 0, 2, RecordKind::kWorkerLost)),
              ElementsAre(RecordKind::kWorkerLost));
}

TEST(CausesTest, DamageToACheckpointLeadsToItsLoad) {
  Record record = SampleRecord();
  RecordEvent damage = {.kind = RecordKind::kDamaged,
                        .t_ns = record.incarnations[0].events[1].t_ns,
                        .path = "/ckpt/step-2.tmp/model.safetensors",
                        .detail = "rot"};
  record.incarnations[0].events.insert(
      record.incarnations[0].events.begin() + 1, damage);
  EXPECT_THAT(ChainTo(record, Find(record, 0, 2, RecordKind::kLoaded)),
              ElementsAre(RecordKind::kDamaged, RecordKind::kLoaded));
  record.incarnations[0].events[1].path = "/ckpt/step-22/model.safetensors";
  EXPECT_THAT(ChainTo(record, Find(record, 0, 2, RecordKind::kLoaded)),
              ElementsAre(RecordKind::kLoaded));
}

// Returns the sample in which fault "rot" damages the checkpoint of step 2. In
// incarnation 2 worker 0, the chief, rejects it and refuses worker 1; both exit
// with 7.
Record RecordOfARefusal() {
  Record record = SampleRecord();
  std::vector<RecordEvent>& saved = record.incarnations[0].events;
  const int64_t damaged_ns = saved[4].t_ns;
  saved.insert(
      saved.begin() + 5,
      {{.kind = RecordKind::kFaultFired, .t_ns = damaged_ns, .detail = "rot"},
       {.kind = RecordKind::kDamaged,
        .t_ns = damaged_ns,
        .path = "/ckpt/step-2.tmp/manifest.json",
        .detail = "rot"}});
  const int64_t begin = record.incarnations[1].events[0].t_ns;
  const auto after = [&](int64_t ms, RecordEvent event) {
    event.t_ns = begin + ms * 1'000'000;
    return event;
  };
  const RecordEvent failure = {.kind = RecordKind::kWorkerExited,
                               .count = 7,
                               .reason = RecordReason::kPrecondition};
  record.incarnations[1].events = {
      after(0, {.kind = RecordKind::kWorkerStarted}),
      after(5, {.kind = RecordKind::kRejected, .path = "/ckpt/step-2"}),
      after(9, failure)};
  record.incarnations[3].events = {
      after(1, {.kind = RecordKind::kWorkerStarted}),
      after(7, {.kind = RecordKind::kWorkerLost,
                .about = 0,
                .reason = RecordReason::kRefused}),
      after(8, failure)};
  return record;
}

TEST(CausesTest, DamageLeadsToTheRejection_AndToTheExitsOfAllWorkers) {
  const Record record = RecordOfARefusal();
  EXPECT_THAT(ChainTo(record, Find(record, 0, 2, RecordKind::kWorkerExited)),
              ElementsAre(RecordKind::kFaultFired, RecordKind::kDamaged,
                          RecordKind::kRejected, RecordKind::kWorkerExited));
  EXPECT_THAT(ChainTo(record, Find(record, 1, 2, RecordKind::kWorkerExited)),
              ElementsAre(RecordKind::kFaultFired, RecordKind::kDamaged,
                          RecordKind::kRejected, RecordKind::kWorkerLost,
                          RecordKind::kWorkerExited));
}

TEST(CausesTest, DamageLeadsToTheLoadThatFails_AndToTheExit) {
  Record record = RecordOfARefusal();
  record.incarnations[1].events[1].kind = RecordKind::kLoadFailed;
  record.incarnations[1].events[2].reason = RecordReason::kLostWorker;
  EXPECT_THAT(ChainTo(record, Find(record, 0, 2, RecordKind::kWorkerExited)),
              ElementsAre(RecordKind::kFaultFired, RecordKind::kDamaged,
                          RecordKind::kLoadFailed, RecordKind::kWorkerExited));
}

TEST(CausesTest, DamageLeadsToTheExitsOfAllWorkers_WithoutARejection) {
  Record record = RecordOfARefusal();
  record.incarnations[1].events.erase(record.incarnations[1].events.begin() +
                                      1);
  EXPECT_THAT(ChainTo(record, Find(record, 0, 2, RecordKind::kWorkerExited)),
              ElementsAre(RecordKind::kFaultFired, RecordKind::kDamaged,
                          RecordKind::kWorkerExited));
  EXPECT_THAT(ChainTo(record, Find(record, 1, 2, RecordKind::kWorkerExited)),
              ElementsAre(RecordKind::kFaultFired, RecordKind::kDamaged,
                          RecordKind::kWorkerLost, RecordKind::kWorkerExited));
  for (const size_t incarnation : {1, 3}) {
    record.incarnations[incarnation].events.back().reason =
        RecordReason::kDevice;
  }
  EXPECT_THAT(ChainTo(record, Find(record, 0, 2, RecordKind::kWorkerExited)),
              ElementsAre(RecordKind::kWorkerExited));
  EXPECT_THAT(ChainTo(record, Find(record, 1, 2, RecordKind::kWorkerExited)),
              ElementsAre(RecordKind::kWorkerLost, RecordKind::kWorkerExited));
}

TEST(CausesTest, RejectedCheckpointDoesNotExplainAnExitAfterMoreTraining) {
  Record record = RecordOfARefusal();
  std::vector<RecordEvent>& events = record.incarnations[1].events;
  events.back().reason = RecordReason::kDevice;
  events.insert(events.begin() + 2,
                {.kind = RecordKind::kInitialized, .t_ns = events[1].t_ns + 1});
  EXPECT_FALSE(
      CausesOf(record).contains(Find(record, 0, 2, RecordKind::kWorkerExited)));
}

TEST(CausesTest, EachCheckpointIsRejectedForItsOwnDamage) {
  Record record = RecordOfARefusal();
  std::vector<RecordEvent>& saved = record.incarnations[0].events;
  RecordEvent other = saved[6];
  other.path = "/ckpt/step-3.tmp/manifest.json";
  ++other.t_ns;
  saved.insert(saved.begin() + 7, other);
  const EventPlace rejection = Find(record, 0, 2, RecordKind::kRejected);
  EXPECT_EQ(CausesOf(record).at(rejection),
            (EventPlace{.incarnation = 0, .index = 6}));
}

TEST(CausesTest, NoticeLeadsToTheAgreedStop) {
  Record record = SampleRecord();
  std::vector<RecordEvent>& events = record.incarnations[2].events;
  events.push_back(
      {.kind = RecordKind::kNotice, .t_ns = events.back().t_ns + 1});
  events.push_back(
      {.kind = RecordKind::kStopAgreed, .t_ns = events.back().t_ns + 1});
  EXPECT_THAT(ChainTo(record, Find(record, 1, 1, RecordKind::kStopAgreed)),
              ElementsAre(RecordKind::kFaultFired, RecordKind::kNotice,
                          RecordKind::kStopAgreed));
}

// Returns the sample with a preemption notice of worker 1. A fault delays the
// save of worker 1 until the launcher detects that the worker was killed.
Record RecordOfAShortGrace(int64_t grace_ms) {
  Record record = SampleRecord();
  record.faults.push_back(
      {.id = "notice", .kind = "preempt", .grace_ns = grace_ms * 1'000'000});
  record.faults.push_back({.id = "nfs", .kind = "slow"});
  std::vector<RecordEvent>& events = record.incarnations[2].events;
  events.back().detail = "notice";
  const int64_t notice_ns = events.back().t_ns;
  events.push_back({.kind = RecordKind::kFaultFired,
                    .t_ns = notice_ns + 1'000'000,
                    .detail = "nfs"});
  record.launchers[0].events = {{.kind = RecordKind::kExited,
                                 .t_ns = notice_ns + 9'000'000,
                                 .count = 137,
                                 .about = 1,
                                 .incarnation = 1,
                                 .reason = RecordReason::kSignal}};
  return WithLaunchers(record);
}

TEST(CausesTest, NoticeLeadsToTheKillAtTheEndOfItsGracePeriod_AndToItsLoss) {
  const auto causes = [](const Record& record) {
    const auto cause = [&](const EventPlace& place) {
      return EventAt(record, CausesOf(record).at(place)).detail;
    };
    return std::pair(
        cause(Find(record, kLauncherWorker, 1, RecordKind::kExited)),
        cause(Find(record, 0, 1, RecordKind::kWorkerLost)));
  };
  EXPECT_THAT(causes(RecordOfAShortGrace(9)), Pair("notice", "notice"));
  EXPECT_THAT(causes(RecordOfAShortGrace(10)), Pair("nfs", "nfs"));
}

// Returns the sample with two launchers. The first one ends in a power loss.
Record RecordOfAPowerCut() {
  Record record = SampleRecord();
  record.faults[0].kind = "power_loss";
  const int64_t begin = record.incarnations[0].events[0].t_ns;
  const auto at = [&](int64_t ms, RecordKind kind) {
    return RecordEvent{.kind = kind, .t_ns = begin + ms * 1'000'000};
  };
  RecordEvent started = at(49, RecordKind::kStarted);
  started.about = 1;
  started.incarnation = 2;
  record.launchers = {
      {.events = {at(0, RecordKind::kLauncherBegin)}},
      {.events = {at(48, RecordKind::kLauncherBegin), started}}};
  record.machine = {at(32, RecordKind::kPowerCut)};
  return WithLaunchers(record);
}

TEST(CausesTest, PowerLossLeadsToTheNextLauncher) {
  Record record = RecordOfAPowerCut();
  EXPECT_THAT(ChainTo(record, Find(record, 1, 2, RecordKind::kWorkerStarted)),
              ElementsAre(RecordKind::kFaultFired, RecordKind::kLauncherBegin,
                          RecordKind::kStarted, RecordKind::kWorkerStarted));
  EXPECT_FALSE(CausesOf(record).contains(
      Find(record, kLauncherWorker, 1, RecordKind::kLauncherBegin)));
  record.incarnations.push_back(
      {.worker = kLauncherWorker, .number = 1, .events = record.machine});
  EXPECT_THAT(ChainTo(record, Find(record, kLauncherWorker, 2,
                                   RecordKind::kLauncherBegin)),
              ElementsAre(RecordKind::kFaultFired, RecordKind::kPowerCut,
                          RecordKind::kLauncherBegin));
}

TEST(CausesTest, LauncherThatNothingKilledHasNoCause) {
  Record record = RecordOfAPowerCut();
  record.faults[0].kind = "crash";
  EXPECT_FALSE(CausesOf(record).contains(
      Find(record, kLauncherWorker, 2, RecordKind::kLauncherBegin)));
}

TEST(CausesTest, ExitInGoodOrderHasNoCause) {
  Record record = SampleRecord();
  RecordEvent exited = {.kind = RecordKind::kExited,
                        .t_ns = record.incarnations[2].events.back().t_ns + 1,
                        .count = 128 + 9,
                        .about = 1,
                        .incarnation = 1,
                        .reason = RecordReason::kSignal};
  record.launchers[0].events = {exited};
  const auto has_cause = [&] {
    const Record whole = WithLaunchers(record);
    return CausesOf(whole).contains(
        Find(whole, kLauncherWorker, 1, RecordKind::kExited));
  };
  EXPECT_TRUE(has_cause());
  record.launchers[0].events[0].reason = RecordReason::kExited;
  record.launchers[0].events[0].count = 0;
  EXPECT_FALSE(has_cause());
}

TEST(CausesTest, ResultIsNotCausedByAnEarlierAttempt) {
  Record record = SampleRecord();
  const int64_t begin = record.incarnations[0].events[0].t_ns;
  record.launchers[0].events = {{.kind = RecordKind::kExited,
                                 .t_ns = begin + 42'000'000,
                                 .count = 75,
                                 .about = 0,
                                 .incarnation = 1,
                                 .reason = RecordReason::kExited},
                                {.kind = RecordKind::kAttemptEnds,
                                 .t_ns = begin + 92'000'000,
                                 .about = 0,
                                 .reason = RecordReason::kResult}};
  const auto has_cause = [&] {
    const Record whole = WithLaunchers(record);
    return CausesOf(whole).contains(
        Find(whole, kLauncherWorker, 1, RecordKind::kAttemptEnds));
  };
  EXPECT_FALSE(has_cause());
  record.launchers[0].events[1].reason = RecordReason::kWorkerLeft;
  EXPECT_TRUE(has_cause());
}

TEST(CausesTest, RecordWithoutEventsHasNone) {
  EXPECT_THAT(CausesOf({}), IsEmpty());
}

}  // namespace
}  // namespace gauntlet
