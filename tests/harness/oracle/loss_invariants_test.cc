// What is owed when workers are lost: why, how soon it shows, and how much is
// done again.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/oracle/judge.h"
#include "tests/harness/oracle/record_builder.h"

namespace gauntlet {
namespace {

using K = RecordKind;

uint64_t Breaches(const Record& record, std::string_view invariant) {
  return ReportOf(record, invariant).breaches;
}

uint64_t Instances(const Record& record, std::string_view invariant) {
  return ReportOf(record, invariant).instances;
}

std::vector<std::string> Names(const Record& record,
                               std::string_view invariant) {
  std::vector<std::string> names;
  for (const Finding& one : ReportOf(record, invariant).findings) {
    names.push_back(one.name);
  }
  return names;
}

// All workers go on from that step instead.
void ResumeFrom(Record& record, int life, uint64_t step) {
  for (const int worker : {0, 1}) {
    RecordEvent& resumed = EventOf(record, worker, life, K::kResumed, 0);
    resumed.step = step;
    resumed.phase = RecordPhase::kInEpoch;
  }
}

TEST(BoundedLossTest, AnEmptyGenerationHidesNoLoss) {
  Record record = RecoveredRun();
  record.setup.save_interval_steps = 1;
  record.expect.recomputed_steps_max = 0;
  AddAnEmptyGeneration(record);
  EXPECT_EQ(Breaches(record, "bounded-loss"), 1u);
  EXPECT_EQ(Judge(record).facts.recomputed_steps, 2u);
}

// The one in between had taken the state: what it gave up is its own.
TEST(BoundedLossTest, NoLossCountsTwice) {
  Record record = RecoveredRun();
  AddAnEmptyGeneration(record);
  LifeOf(record, 0, 2)
      .events.push_back({.kind = K::kResumed, .generation = 2, .step = 4});
  EXPECT_EQ(Judge(record).facts.recomputed_steps, 2u);
  record.setup.save_interval_steps = 1;
  EXPECT_EQ(Breaches(record, "bounded-loss"), 1u);
}

TEST(BoundedLossTest, AnEmptyGenerationAfterAnOrderlyStopExcusesNoLoss) {
  Record record = PreemptedRun();
  AddAnEmptyGeneration(record);
  ASSERT_EQ(Breaches(record, "bounded-loss"), 0u);
  ResumeFrom(record, 3, 4);
  EXPECT_EQ(Names(record, "bounded-loss"),
            std::vector<std::string>{"after-orderly-stop"});
}

TEST(BoundedLossTest, AFailedSaveExcusesOneIntervalWhereItWasDue) {
  Record record = RecoveredRun();
  record.setup.save_interval_steps = 1;
  ASSERT_EQ(Breaches(record, "bounded-loss"), 1u);
  RecordEvent& failed = EventOf(record, 0, 1, K::kLifeBegin, 0);
  failed.kind = K::kSaveFailed;
  failed.step = 5;
  EXPECT_EQ(Breaches(record, "bounded-loss"), 0u);
  failed.step = 2;
  EXPECT_EQ(Breaches(record, "bounded-loss"), 1u)
      << "there is a later save that did not fail";
}

// RecoveredRun, but the save of step 4 never came out: all start again from
// step 2.
Record RunThatLostASaveUnderWay() {
  Record record = RecoveredRun();
  record.setup.save_interval_steps = 2;
  record.setup.saves_beside = true;
  EventOf(record, 0, 1, K::kSaveAcknowledged, 1).kind = K::kNotice;
  ResumeFrom(record, 2, 2);
  return record;
}

TEST(BoundedLossTest, StepsTakenWhileTheNewestSaveWasUnderWayAreExcused) {
  Record record = RunThatLostASaveUnderWay();
  ASSERT_EQ(EventOf(record, 0, 1, K::kSaveBegin, 1).step, 4u);
  EXPECT_EQ(Breaches(record, "bounded-loss"), 0u);
  record.setup.saves_beside = false;
  EXPECT_EQ(Breaches(record, "bounded-loss"), 1u) << "training waited for it";
}

TEST(BoundedLossTest, NoOtherStepsAreExcusedByASaveUnderWay) {
  Record earlier = RunThatLostASaveUnderWay();
  earlier.setup.save_interval_steps = 1;
  EXPECT_EQ(Breaches(earlier, "bounded-loss"), 1u);
  Record none = RunThatLostASaveUnderWay();
  EventOf(none, 0, 1, K::kSaveBegin, 1).kind = K::kNotice;
  EXPECT_EQ(Breaches(none, "bounded-loss"), 1u);
}

// The next save that is due waits for it.
TEST(BoundedLossTest, NoMoreThanAnIntervalIsExcusedByASaveUnderWay) {
  Record record = RunThatLostASaveUnderWay();
  EventOf(record, 0, 1, K::kSaveBegin, 1).step = 3;
  EXPECT_EQ(Breaches(record, "bounded-loss"), 0u);
  record.setup.save_interval_steps = 1;
  EXPECT_EQ(Breaches(record, "bounded-loss"), 1u);
}

TEST(BoundedLossTest, AFailedSaveOfTheNewGenerationExcusesNoLossOfTheOld) {
  Record record = RecoveredRun();
  record.setup.save_interval_steps = 1;
  RecordEvent& failed = EventOf(record, 0, 2, K::kLifeBegin, 0);
  failed.kind = K::kSaveFailed;
  failed.step = 5;
  EXPECT_EQ(Breaches(record, "bounded-loss"), 1u);
}

// Told that it may, it starts anew; it had kept one save, and that is damaged.
TEST(BoundedLossTest, WhatRetentionRemovedForADamagedSaveIsExcused) {
  Record record = RecoveredRun();
  record.setup.save_interval_steps = 2;
  record.setup.allow_cold_start = true;
  DamageSaveOf(record, 4);
  for (const int worker : {0, 1}) {
    EventOf(record, worker, 2, K::kResumed, 0).kind = K::kInitialized;
  }
  EventOf(record, 0, 2, K::kLifeBegin, 0) = {.kind = K::kRejected,
                                             .path = "/s/step-000000004-g1"};
  ASSERT_EQ(Judge(record).facts.recomputed_steps, 6u);
  EXPECT_EQ(Names(record, "bounded-loss"),
            std::vector<std::string>{"excess-rework"})
      << "the save of step 2 is kept";
  record.setup.keep = 1;
  EXPECT_EQ(Breaches(record, "bounded-loss"), 0u);
  // It had gone on from a save that nobody had acknowledged.
  RecordEvent& save = EventOf(record, 0, 1, K::kSaveAcknowledged, 0);
  save.kind = K::kNotice;
  EXPECT_EQ(Breaches(record, "bounded-loss"), 1u);
  RecordEvent& begin = EventOf(record, 1, 1, K::kLifeBegin, 0);
  begin.kind = K::kGeneration;
  begin.path = "/s/step-000000002-g1";
  EXPECT_EQ(Breaches(record, "bounded-loss"), 0u);
  begin.kind = K::kLifeBegin;
  save.kind = K::kSaveAcknowledged;
  std::erase_if(LifeOf(record, 0, 1).events, [](const RecordEvent& event) {
    return event.kind == K::kDamaged;
  });
  EXPECT_EQ(Breaches(record, "bounded-loss"), 1u) << "that of step 4 is good";
}

TEST(BoundedLossTest, WhatIsFoundBadLaterExcusesNoEarlierLoss) {
  Record record = RecoveredRun();
  record.setup.save_interval_steps = 2;
  DamageSaveOf(record, 4);
  ResumeFrom(record, 2, 2);
  RecordEvent& rejected = EventOf(record, 0, 2, K::kLifeBegin, 0);
  rejected.kind = K::kRejected;
  rejected.path = "/s/step-000000004-g1";
  ASSERT_EQ(Breaches(record, "bounded-loss"), 0u);
  rejected.t_ns = EventOf(record, 0, 2, K::kLifeEnd, 0).t_ns;
  EXPECT_EQ(Breaches(record, "bounded-loss"), 1u);
}

TEST(BoundedLossTest, ANumberThatALateSurvivorGivesOutAgainIsNotTheGeneration) {
  Record record = RecoveredRun();
  std::vector<RecordEvent>& late = LifeOf(record, 0, 1).events;
  ASSERT_EQ(late.back().kind, K::kLifeEnd);
  record.setup.delete_at_success = true;
  LifeOf(record, 0, 2).events.front().kind = K::kGeneration;
  RecordEvent& last = LifeOf(record, 0, 2).events.back();
  last.kind = K::kBackupDeleted;
  const int64_t end = last.t_ns + 1;
  late.back() = {.kind = K::kLeft, .t_ns = late.back().t_ns, .step = 6};
  late.push_back({.kind = K::kGeneration, .t_ns = end, .generation = 2});
  EXPECT_EQ(Breaches(record, "bounded-loss"), 0u);
}

// RejoinedRun, but nobody came back: worker 0 ended as well, and all went on
// from the checkpoint.
Record RunThatForgot() {
  Record record = RecoveredRun();
  record.setup.rejoins = true;
  return record;
}

TEST(BoundedLossTest, WhatASurvivorHeldIsNotDoneAgainThoughNobodyCameBack) {
  EXPECT_EQ(Names(RunThatForgot(), "bounded-loss"),
            std::vector<std::string>{"memory-lost"});
  Record killed = RunThatForgot();
  std::erase_if(LifeOf(killed, 0, 1).events, [](const RecordEvent& event) {
    return event.kind == K::kLifeEnd || event.kind == K::kWorkerLost;
  });
  EXPECT_EQ(Names(killed, "bounded-loss"),
            std::vector<std::string>{"memory-lost"});
}

// It had left when the other one was lost at the end.
TEST(BoundedLossTest, WhatOneHeldThatWasDoneIsGoneWithIt) {
  Record record = RunThatForgot();
  ASSERT_EQ(Breaches(record, "bounded-loss"), 1u);
  RecordEvent& end = EventOf(record, 0, 1, K::kLifeEnd, 0);
  end.count = 0;
  EXPECT_EQ(Breaches(record, "bounded-loss"), 0u);
}

// Two workers, three, and two again: all are started anew each time.
TEST(BoundedLossTest, WhatSurvivorsHeldGoesWhereTheirNumberChanges) {
  Record record = RunThatForgot();
  AddAnEmptyGeneration(record);
  ASSERT_EQ(Breaches(record, "bounded-loss"), 1u);
  record.setup.workers_by_life = {2};
  EXPECT_EQ(Breaches(record, "bounded-loss"), 1u);
  record.setup.workers_by_life = {2, 3, 2};
  EXPECT_EQ(Breaches(record, "bounded-loss"), 0u);
  record.setup.workers_by_life = {2, 2, 2, 3};
  EXPECT_EQ(Breaches(record, "bounded-loss"), 1u) << "that would be next";
}

TEST(BoundedLossTest, WhatSurvivorsHeldMayGoWhereAFaultStandsInTheirWay) {
  for (const char* kind : {"partition", "preempt", "errno", "power_loss"}) {
    Record record = RunThatForgot();
    record.faults[0].kind = kind;
    EXPECT_EQ(Breaches(record, "bounded-loss"), 0u) << kind;
  }
  Record whole_job = RunThatForgot();
  whole_job.setup.rejoins = false;
  EXPECT_EQ(Breaches(whole_job, "bounded-loss"), 0u);
}

// Three deaths in a row, and before the last of them the other one alone came a
// step further: the launcher hears of the chief's steps.
TEST(BoundedLossTest, AStepOfWhoIsNotTheChiefIsNoProgress) {
  Record record = RunThatForgot();
  std::vector<RecordEvent>& chief = LifeOf(record, 0, 1).events;
  std::vector<RecordEvent>& other = LifeOf(record, 1, 1).events;
  chief.front().kind = K::kGeneration;
  const RecordEvent death = EventOf(record, 1, 1, K::kFaultFired, 0);
  std::erase_if(chief, [](const RecordEvent& event) {
    return event.kind == K::kStep && event.step == 6;
  });
  other.insert(other.end() - 1, 2, death);
  EXPECT_EQ(Breaches(record, "bounded-loss"), 0u) << "three of them";
  other.insert(other.end() - 1,
               {.kind = K::kStep, .t_ns = death.t_ns, .step = 6});
  EXPECT_EQ(Breaches(record, "bounded-loss"), 0u);
  RecordEvent& came = other[other.size() - 2];
  came.t_ns = death.t_ns + 1;
  EXPECT_EQ(Breaches(record, "bounded-loss"), 0u) << "not the chief's";
  other.front().kind = K::kGeneration;
  EXPECT_EQ(Breaches(record, "bounded-loss"), 1u) << "it is a chief now";
  other.front().kind = K::kLifeBegin;
  chief.insert(chief.begin() + 1, {.kind = K::kCarriedOn, .step = 6});
  EXPECT_EQ(Breaches(record, "bounded-loss"), 0u) << "a chief was there before";
}

TEST(SamplesTest, TheLastEpochOwesItsRowsWhereItIsComplete) {
  Record record = UndisturbedRun();
  record.golden = {};
  ASSERT_EQ(Breaches(record, "samples"), 0u);
  EventOf(record, 0, 1, K::kStep, 6).samples.pop_back();
  EXPECT_EQ(Names(record, "samples"), std::vector<std::string>{"missing"});
  record.launchers[0].result->epochs = 1;
  EXPECT_EQ(Breaches(record, "samples"), 0u) << "it was cut by a maximum";
}

TEST(SamplesTest, AnEpochWithoutAnyRowIsMissing) {
  Record record = UndisturbedRun();
  record.golden = {};
  for (const int worker : {0, 1}) {
    for (const size_t nth : {0u, 1u, 2u, 3u}) {
      EventOf(record, worker, 1, K::kStep, nth).samples.clear();
    }
  }
  EXPECT_EQ(Breaches(record, "samples"), 1u);
}

TEST(SamplesTest, TheRowsOfAStepMayBeToldInAnyOrder) {
  Record record = UndisturbedRun();
  std::vector<uint32_t>& rows = EventOf(record, 0, 1, K::kStep, 1).samples;
  ASSERT_GT(rows.size(), 1u);
  std::ranges::reverse(rows);
  EXPECT_EQ(Breaches(record, "samples"), 0u);
}

// In a last step that is not whole one worker has no rows: the others' are not
// said by who dies behind the step.
TEST(SamplesTest, WhoHasNoRowsOfAStepDidItAllTheSame) {
  Record record = RejoinedRun();
  ASSERT_EQ(Breaches(record, "samples"), 0u);
  EventOf(record, 0, 1, K::kStep, 5).samples.clear();
  ASSERT_EQ(EventOf(record, 0, 1, K::kStep, 5).step, 6u);
  EXPECT_EQ(Breaches(record, "samples"), 0u);
  EventOf(record, 0, 1, K::kStep, 4).samples.clear();
  EXPECT_GT(Breaches(record, "samples"), 0u) << "nobody died in step 5";
}

TEST(SamplesTest, EachStepIsComparedForItself) {
  Record record = UndisturbedRun();
  std::swap(EventOf(record, 0, 1, K::kStep, 1).samples,
            EventOf(record, 0, 1, K::kStep, 3).samples);
  EXPECT_EQ(Breaches(record, "samples"), 2u) << "of no other step";
  EXPECT_EQ(Names(record, "samples"),
            (std::vector<std::string>{"other-rows", "other-rows"}));
}

TEST(EpochsTest, WithoutAReferenceOnlyTheOrderIsCounted) {
  Record record = UndisturbedRun();
  ASSERT_EQ(Instances(record, "epochs"), 6u);
  record.golden = {};
  EXPECT_EQ(Instances(record, "epochs"), 2u) << "the second after the first";
}

TEST(ReplicasAgreeTest, StatesThatNobodySaidAreNotCounted) {
  Record record = UndisturbedRun();
  ASSERT_GT(Instances(record, "replicas-agree"), 0u);
  for (LifeEvents& life : record.lives) {
    for (RecordEvent& event : life.events) event.digest.clear();
  }
  EXPECT_EQ(Instances(record, "replicas-agree"), 0u);
  EventOf(record, 0, 1, K::kStep, 3).loss_bits ^= 1;
  EXPECT_EQ(Breaches(record, "replicas-agree"), 1u);
}

}  // namespace
}  // namespace gauntlet
