#include "harness/record/fault_occurrence.h"

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

constexpr const char* kSlow = "slowdisk";

// Returns a record in which the save of step 4 is written from 10 to 20 ns.
Record RecordOfASave() {
  Record record;
  record.faults = {{.id = kSlow, .kind = "slow", .in_save = true}};
  record.incarnations = {
      {.worker = 0,
       .events = {
           {.kind = RecordKind::kGeneration, .t_ns = 1, .generation = 1},
           {.kind = RecordKind::kSaveBegin, .t_ns = 10, .step = 4},
           {.kind = RecordKind::kSaveAcknowledged, .t_ns = 20, .step = 4}}}};
  return record;
}

std::string SaveAt(const Record& record, int64_t t_ns, uint64_t step) {
  return SaveOfFaultText(record, {.kind = RecordKind::kFaultFired,
                                  .t_ns = t_ns,
                                  .step = step,
                                  .detail = kSlow});
}

TEST(FaultOccurrenceTest, FaultInASaveHasTheStepOfTheSave) {
  const Record record = RecordOfASave();
  EXPECT_EQ(SaveAt(record, 15, 4), "in the save of step 4");
  EXPECT_EQ(SaveAt(record, 15, 5),
            "in the save of step 4 (training was at step 5)");
}

TEST(FaultOccurrenceTest, PlannedSaveIsTheSaveOfThatStep) {
  Record record = RecordOfASave();
  record.faults[0].save = 2;
  EXPECT_EQ(SaveAt(record, 15, 4), "in the save of step 4 (save 2)");
  EXPECT_EQ(SaveAt(record, 15, 5),
            "in the save of step 4 (save 2; training was at step 5)");
  record.faults[0].save = 0;  // any save
  EXPECT_EQ(SaveAt(record, 15, 4), "in the save of step 4");
}

TEST(FaultOccurrenceTest, FaultOutsideOfASaveHasNone) {
  Record record = RecordOfASave();
  EXPECT_EQ(SaveAt(record, 9, 4), "");
  EXPECT_EQ(SaveAt(record, 21, 5), "");
  record.faults[0].in_save = false;
  EXPECT_EQ(SaveAt(record, 15, 4), "");
}

TEST(FaultOccurrenceTest, EventsAtTheSameTimeAreInTheirOrder) {
  Record record = RecordOfASave();
  record.incarnations[0].events[1].order = 7;
  RecordEvent fault = {.kind = RecordKind::kFaultFired,
                       .t_ns = 10,
                       .step = 4,
                       .detail = kSlow,
                       .order = 6};
  EXPECT_EQ(SaveOfFaultText(record, fault), "");
  fault.order = 8;
  EXPECT_EQ(SaveOfFaultText(record, fault), "in the save of step 4");
}

TEST(FaultOccurrenceTest, InterruptedSave_EndsWithTheCrash) {
  Record record = RecordOfASave();
  record.incarnations[0].events.pop_back();
  EXPECT_EQ(SaveAt(record, 40, 4), "in the save of step 4");
  record.incarnations.push_back(
      {.worker = 0,
       .number = 2,
       .events = {
           {.kind = RecordKind::kGeneration, .t_ns = 30, .generation = 2}}});
  EXPECT_EQ(SaveAt(record, 40, 4), "");
}

// The fault fires in the saves of steps 4 and 8.
TEST(FaultOccurrenceTest, FiringsInSeveralSavesNameThem) {
  Record record = RecordOfASave();
  std::vector<RecordEvent>& events = record.incarnations[0].events;
  events.push_back({.kind = RecordKind::kFaultFired,
                    .t_ns = 15,
                    .step = 4,
                    .detail = kSlow});
  events.push_back({.kind = RecordKind::kFaultAgain,
                    .t_ns = 16,
                    .step = 4,
                    .detail = kSlow});
  EXPECT_EQ(TimesFiredText(record, record.incarnations[0], kSlow),
            " (fired 2 times)");
  events.push_back({.kind = RecordKind::kSaveBegin, .t_ns = 30, .step = 8});
  events.push_back({.kind = RecordKind::kFaultAgain,
                    .t_ns = 31,
                    .step = 8,
                    .detail = kSlow});
  EXPECT_EQ(TimesFiredText(record, record.incarnations[0], kSlow),
            " (fired 3 times, in the saves of steps 4 and 8)");
}

TEST(FaultOccurrenceTest, CountsTheFaultInEachProcess) {
  const Record record;
  IncarnationEvents incarnation = {
      .events = {{.kind = RecordKind::kFaultFired, .detail = kSlow}}};
  EXPECT_EQ(TimesFiredText(record, incarnation, kSlow), "");
  incarnation.events.push_back(
      {.kind = RecordKind::kFaultAgain, .detail = kSlow});
  incarnation.events.push_back(
      {.kind = RecordKind::kFaultAgain, .detail = "other"});
  incarnation.events.push_back(
      {.kind = RecordKind::kFaultAgain, .detail = kSlow});
  EXPECT_EQ(TimesFiredText(record, incarnation, kSlow), " (fired 3 times)");
}

}  // namespace
}  // namespace gauntlet
