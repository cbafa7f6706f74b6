// Checkpoints that a run could not delete.
#include "harness/run/failure/history/deletions.h"

#include <string>

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

using K = RecordKind;

// Returns a run that saved steps 3 and 6, and whose save of step 9 failed on a
// full disk. Fault f damaged the checkpoint of step 6.
Record FullRun() {
  Record record;
  record.incarnations = {
      {.number = 1,
       .events = {{.kind = K::kSaveAcknowledged,
                   .t_ns = 10,
                   .step = 3,
                   .path = "/ckpt/step-000000003-g1"},
                  {.kind = K::kDamaged,
                   .t_ns = 20,
                   .path = "/ckpt/step-000000006-g1.tmp/MANIFEST.json",
                   .detail = "f"},
                  {.kind = K::kSaveAcknowledged,
                   .t_ns = 30,
                   .step = 6,
                   .path = "/ckpt/step-000000006-g1"},
                  {.kind = K::kSaveFailed,
                   .t_ns = 50,
                   .step = 9,
                   .detail = "MANIFEST.json: injected ENOSPC"}}}};
  return record;
}

// Returns the id of the fault whose damage kept the oldest checkpoint; "" if
// none did.
std::string FaultThatKeptOldest(const Record& record) {
  const BegunSave save = {.step = 9,
                          .begin_ns = 40,
                          .ending = SaveEnding::kFailed,
                          .failure = &record.incarnations[0].events[3]};
  const RecordEvent* const damage = DamageThatKeptOldest(record, save);
  return damage == nullptr ? "" : damage->detail;
}

TEST(DeletionsTest, OnlyIntactCheckpointIsKept) {
  EXPECT_EQ(FaultThatKeptOldest(FullRun()), "f");
}

TEST(DeletionsTest, OlderIntactCheckpointCouldBeDeleted) {
  Record record = FullRun();
  record.incarnations[0].events.push_back({.kind = K::kSaveAcknowledged,
                                           .t_ns = 5,
                                           .step = 2,
                                           .path = "/ckpt/step-000000002-g1"});
  EXPECT_EQ(FaultThatKeptOldest(record), "");
}

TEST(DeletionsTest, OtherErrorsAndLaterDamageKeepNothing) {
  Record record = FullRun();
  record.incarnations[0].events[3].detail = "MANIFEST.json: injected EIO";
  EXPECT_EQ(FaultThatKeptOldest(record), "");
  record = FullRun();
  record.incarnations[0].events[1].t_ns = 60;
  EXPECT_EQ(FaultThatKeptOldest(record), "");
}

TEST(DeletionsTest, CheckpointThatWasRemovedBeforeDoesNotCount) {
  Record record = FullRun();
  record.incarnations[0].events.push_back(
      {.kind = K::kRetired, .t_ns = 35, .path = "/ckpt/step-000000003-g1"});
  EXPECT_EQ(FaultThatKeptOldest(record), "");
}

}  // namespace
}  // namespace gauntlet
