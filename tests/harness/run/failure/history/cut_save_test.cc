// Saves that were still being written when a process ended.
#include "harness/run/failure/history/cut_save.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gauntlet {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

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

}  // namespace
}  // namespace gauntlet
