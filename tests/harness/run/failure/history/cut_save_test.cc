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

// Training continues after the notice of RecordOfNotice: of the steps of each
// worker, one comes before it reads the notice, and `steps` before it saves.
Record RecordOfSteps(int steps) {
  Record record = RecordOfNotice();
  record.setup.notice_grace_ns = 1'000'000'000;
  for (IncarnationEvents& process : record.incarnations) {
    std::vector<RecordEvent> events = {process.events.front(),
                                       {.kind = RecordKind::kStep, .step = 1},
                                       {.kind = RecordKind::kNotice}};
    for (int i = 0; i < steps; ++i) {
      events.push_back(
          {.kind = RecordKind::kStep, .step = static_cast<uint64_t>(2 + i)});
    }
    for (RecordEvent& event : events) event.t_ns = 1'000'000'000;
    const bool saves = process.worker == 0;
    if (saves) events.push_back(process.events.back());
    process.events = std::move(events);
  }
  return record;
}

// Returns both texts on the save that the kill interrupts.
std::vector<std::string> TextsOnSave(const Record& record, uint64_t step = 8) {
  const Outline outline(record);
  const BegunSave save = {.step = step, .begin_ns = 1'500'000'000};
  return {ExplainShortGrace(outline),
          PendingSaveText(outline, save, {0, INT64_MAX})};
}

TEST(CutSaveTest, ExplainsStepsAfterNotice_IfPreemptionGraceIsSet) {
  Record record = RecordOfSteps(2);
  EXPECT_THAT(
      TextsOnSave(record),
      Each(HasSubstr("; training continued for 2 steps after the notice, as a "
                     "worker continues training while preemption.grace (1s) "
                     "leaves enough time for a step and a save")));
  // The grace explains no other save.
  EXPECT_THAT(TextsOnSave(record, 9)[1], Not(HasSubstr("continued")));
  record.setup.notice_grace_ns = 0;
  EXPECT_THAT(TextsOnSave(record), Each(Not(HasSubstr("continued"))));
}

TEST(CutSaveTest, SaveThatIsNotDue_IsForTheStop) {
  Record record = RecordOfNotice();
  record.setup.save_interval_steps = 5;
  EXPECT_THAT(
      TextsOnSave(record),
      Each(HasSubstr(
          "; saves are due every 5 steps, so this one was for the stop")));
  record.setup.save_interval_steps = 4;
  EXPECT_THAT(TextsOnSave(record), Each(Not(HasSubstr("are due"))));
}

TEST(CutSaveTest, ExecutionInWhichWorkersReadTheNotice_NeedsNoExplanation) {
  EXPECT_THAT(TextsOnSave(RecordOfSteps(1)), Each(Not(HasSubstr("continued"))));
  Record record = RecordOfSteps(4);
  record.setup.steps_per_execution = 4;
  EXPECT_THAT(TextsOnSave(record), Each(Not(HasSubstr("continued"))));
}

}  // namespace
}  // namespace gauntlet
