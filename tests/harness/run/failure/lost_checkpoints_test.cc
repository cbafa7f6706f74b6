#include "harness/run/failure/lost_checkpoints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gauntlet {
namespace {

using testing::HasSubstr;

constexpr const char* kName = "step-000000004-g1";

// Returns a record in which an acknowledged checkpoint does not verify after
// the run.
Record RecordOfALoss() {
  Record record;
  record.lives = {{.events = {{.kind = RecordKind::kSaveAcknowledged,
                               .t_ns = 1,
                               .path = std::string("/ckpt/") + kName}}}};
  record.left.checkpoints = {{.name = kName, .reason = "torn"}};
  return record;
}

Verdict StoreSays(const std::string& finding, const std::string& message) {
  return {.invariants = {{.invariant = "store",
                          .violations = 1,
                          .findings = {{"store", finding, message}}}}};
}

TEST(LostCheckpointsTest, CheckpointThatNoFaultDamagedIsTheCause) {
  const LossExplanation lost =
      ExplainLoss(RecordOfALoss(), StoreSays("does-not-verify", kName));
  EXPECT_EQ(lost.cause,
            "step-000000004-g1 was acknowledged and does not verify (torn), "
            "though no fault damaged it");
  EXPECT_EQ(lost.why_store, "all are about step-000000004-g1");
}

TEST(LostCheckpointsTest, DamageByAFaultIsNoCause) {
  Record record = RecordOfALoss();
  record.lives[0].events.push_back(
      {.kind = RecordKind::kDamaged,
       .path = "/ckpt/step-000000004-g1/MANIFEST.json"});
  EXPECT_EQ(ExplainLoss(record, StoreSays("does-not-verify", kName)).cause, "");
}

TEST(LostCheckpointsTest, CheckpointThatTheOracleExcusesIsNoCause) {
  const Record record = RecordOfALoss();
  EXPECT_EQ(ExplainLoss(record, StoreSays("temporary", kName)).cause, "");
  EXPECT_EQ(
      ExplainLoss(record, StoreSays("does-not-verify", "step-000000004-g12"))
          .cause,
      "");
}

// Returns a record in which the next generation finds no checkpoint, although
// one was acknowledged.
Record RecordOfAGoneOne() {
  Record record = RecordOfALoss();
  record.left = {.store_listed = true};
  record.lives[0].events[0].step = 4;
  record.lives.push_back(
      {.life = 2, .events = {{.kind = RecordKind::kGeneration, .t_ns = 9}}});
  return record;
}

TEST(LostCheckpointsTest, CheckpointOfWhichNothingRemainedIsTheCause) {
  Record record = RecordOfAGoneOne();
  const Verdict verdict = StoreSays("newest-lost", kName);
  EXPECT_EQ(ExplainLoss(record, verdict).cause,
            "step-000000004-g1 was acknowledged, but nothing of it remained, "
            "though no process removed it");
  record.lives[0].events.push_back({.kind = RecordKind::kFaultFired,
                                    .t_ns = 2,
                                    .step = 4,
                                    .path = "ckpt.rename",
                                    .detail = "crash"});
  EXPECT_EQ(ExplainLoss(record, verdict).cause,
            "step 4 was acknowledged before its rename; fault crash came "
            "before the rename; no checkpoint of step 4 remained "
            "(step-000000004-g1)");
}

TEST(LostCheckpointsTest, RemovedOrFencedCheckpointIsNotGone) {
  for (const RecordKind kind :
       {RecordKind::kRetireBegin, RecordKind::kDeleteBegin,
        RecordKind::kFencedFound}) {
    Record record = RecordOfAGoneOne();
    record.lives[0].events.push_back(
        {.kind = kind, .t_ns = 3, .path = std::string("/ckpt/") + kName});
    EXPECT_EQ(ExplainLoss(record, StoreSays("newest-lost", kName)).cause, "")
        << RecordKindName(kind);
  }
}

TEST(LostCheckpointsTest, OnlyAPowerCutAfterTheAcknowledgementIsNamed) {
  Record record = RecordOfALoss();
  const Verdict verdict = StoreSays("does-not-verify", kName);
  record.machine = {{.kind = RecordKind::kPowerCut, .t_ns = 2}};
  EXPECT_THAT(ExplainLoss(record, verdict).cause,
              HasSubstr("the power cut damaged step-000000004-g1, although"));
  record.machine[0].t_ns = 0;
  EXPECT_THAT(ExplainLoss(record, verdict).cause,
              HasSubstr("though no fault damaged it"));
}

}  // namespace
}  // namespace gauntlet
