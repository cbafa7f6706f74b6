// Saves that were still being written when a process ended.
#include "harness/run/failure/history/cut_save.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gauntlet {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// The save of step 4 took 10 ns. That of step 8 is cut; a fault delayed it by 5
// ns.
Record RecordOfCut() {
  Record record;
  record.faults = {
      {.id = "s", .kind = "slow", .in_save = true, .latency_ns = 5}};
  record.incarnations = {
      {.events = {
           {.kind = RecordKind::kSaveBegin, .t_ns = 10, .step = 4},
           {.kind = RecordKind::kSaveAcknowledged, .t_ns = 20, .step = 4},
           {.kind = RecordKind::kSaveBegin, .t_ns = 30, .step = 8},
           {.kind = RecordKind::kFaultFired, .t_ns = 31, .detail = "s"}}}};
  return record;
}

TEST(CutSaveTest, SaveThatLastedNoLongerThanTheOneBefore_IsSlowAnyway) {
  const Record record = RecordOfCut();
  const BegunSave save = {.step = 8, .begin_ns = 30};
  EXPECT_TRUE(IsSlowAnyway(record, save, 39));
  EXPECT_TRUE(IsSlowAnyway(record, save, 40));
  EXPECT_FALSE(IsSlowAnyway(record, save, 41));
}

TEST(CutSaveTest, ShortDelayOfASlowSave_IsNoCause) {
  const Record record = RecordOfCut();
  const BegunSave save = {.step = 8, .begin_ns = 30};
  EXPECT_THAT(DelaysOf(record, save, 40), IsEmpty());
  EXPECT_THAT(DelaysOf(record, save, 41), ElementsAre(&record.faults[0]));
}

TEST(CutSaveTest, UsualDurationIsTheMedianOfSeveralSaves) {
  Record record = RecordOfCut();
  EXPECT_EQ(UsualSaveText(record), "");
  std::vector<RecordEvent>& events = record.incarnations[0].events;
  for (const int64_t begin_ns : {40'000'000, 80'000'000, 120'000'000}) {
    events.push_back(
        {.kind = RecordKind::kSaveBegin, .t_ns = begin_ns, .step = 8});
    events.push_back({.kind = RecordKind::kSaveAcknowledged,
                      .t_ns = begin_ns + begin_ns / 20,
                      .step = 8});
  }
  EXPECT_EQ(UsualSaveText(record),
            "the run's 4 acknowledged saves took 3.0 ms (median)");
}

// A notice to all workers comes at 1 s, with a grace period of 1 s. The save of
// step 8 begins at 1.5 s. Both workers are killed.
Record RecordOfNotice() {
  constexpr int64_t kSecond = 1'000'000'000;
  Record record;
  record.faults = {{.id = "n",
                    .kind = "preempt",
                    .summary = "preempt all",
                    .grace_ns = kSecond}};
  record.launchers.emplace_back();
  for (const int worker : {0, 1}) {
    record.incarnations.push_back({.worker = worker,
                                   .number = 1,
                                   .events = {{.kind = RecordKind::kFaultFired,
                                               .t_ns = kSecond,
                                               .step = 7,
                                               .path = "step.begin",
                                               .detail = "n"}}});
    record.launchers[0].events.push_back({.kind = RecordKind::kExited,
                                          .t_ns = 2 * kSecond + worker,
                                          .count = 137,
                                          .about = worker,
                                          .incarnation = 1,
                                          .reason = RecordReason::kSignal});
  }
  record.incarnations[0].events.push_back(
      {.kind = RecordKind::kSaveBegin, .t_ns = 1'500'000'000, .step = 8});
  return record;
}

TEST(CutSaveTest, ShortGraceNamesEachKilledWorkerAndBothTimes) {
  const Record record = RecordOfNotice();
  EXPECT_EQ(ExplainShortGrace(Outline(record)),
            "the save of step 8 was still being written when workers 0 and 1 "
            "were killed because of fault n (preempt all), 1.0 s after the "
            "notice; the save had run for 500 ms");
}

TEST(CutSaveTest, StepsAfterANotice_AreExplainedByTheGraceOfTheEngine) {
  Record record = RecordOfNotice();
  for (IncarnationEvents& process : record.incarnations) {
    process.events.push_back(
        {.kind = RecordKind::kStep, .t_ns = 1'200'000'000, .step = 7});
    process.events.push_back(
        {.kind = RecordKind::kStep, .t_ns = 1'400'000'000, .step = 8});
  }
  const auto texts = [&record] {
    const BegunSave save = {.step = 8, .begin_ns = 1'500'000'000};
    const Outline outline(record);
    return std::vector{ExplainShortGrace(outline),
                       PendingSaveText(outline, save, {0, INT64_MAX})};
  };
  EXPECT_THAT(texts(), Each(Not(HasSubstr("training went on"))));
  record.setup.notice_grace_ns = 1'000'000'000;
  EXPECT_THAT(
      texts(),
      Each(HasSubstr("; training went on for 2 steps after the notice, as a "
                     "worker trains on while enough of preemption.grace (1s) "
                     "is left for a step and a save")));
}

}  // namespace
}  // namespace gauntlet
