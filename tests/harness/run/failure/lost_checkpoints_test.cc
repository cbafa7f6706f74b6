#include "harness/run/failure/lost_checkpoints.h"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/record/fault_traits.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kName = "step-000000004-g1";

// Returns a record in which an acknowledged checkpoint does not verify after
// the run.
Record RecordOfALoss() {
  Record record;
  record.incarnations = {{.events = {{.kind = RecordKind::kSaveAcknowledged,
                                      .t_ns = 1,
                                      .path = std::string("/ckpt/") + kName}}}};
  record.left.checkpoints = {{.name = kName, .reason = "torn"}};
  return record;
}

Verdict StoreVerdict(const std::string& finding, const std::string& message) {
  return {.invariants = {{.invariant = "store",
                          .violations = 1,
                          .findings = {{"store", finding, message}}}}};
}

TEST(LostCheckpointsTest, CheckpointThatNoFaultDamagedIsTheCause) {
  const LossExplanation lost =
      ExplainLoss(RecordOfALoss(), StoreVerdict("does-not-verify", kName));
  EXPECT_EQ(lost.cause,
            "step-000000004-g1 was acknowledged and does not verify (torn), "
            "though no fault damaged it");
  EXPECT_EQ(lost.why_store, "all violations are about step-000000004-g1");
}

// Returns the text that derives a refusal with these violations from the lost
// checkpoint; "" if the refusal does not follow from it.
std::string WhyRefusalFails(const Record& record,
                            const std::vector<std::string>& messages) {
  Verdict verdict = StoreVerdict("does-not-verify", kName);
  InvariantReport& refusal = verdict.invariants.emplace_back();
  refusal.invariant = "clean-refusal";
  for (const std::string& message : messages) {
    refusal.findings.push_back({"clean-refusal", "any", message});
    ++refusal.violations;
  }
  return ExplainLoss(record, verdict).why_refusal;
}

TEST(LostCheckpointsTest, RefusalFollowsFromTheCheckpointThatDoesNotVerify) {
  const Record record = RecordOfALoss();
  const std::string about = std::string("no fault damaged ") + kName;
  EXPECT_EQ(WhyRefusalFails(record, {about}),
            "all violations are about step-000000004-g1; training refuses to "
            "start if no checkpoint verifies");
  EXPECT_EQ(WhyRefusalFails(record, {}), "");
  EXPECT_EQ(WhyRefusalFails(record, {about, "its result is done"}), "");
  EXPECT_EQ(WhyRefusalFails(record, {"no fault damaged step-000000008-g1"}),
            "");
}

TEST(LostCheckpointsTest, RefusalDoesNotFollowFromAnIntactCheckpoint) {
  Record record = RecordOfALoss();
  record.left.checkpoints.front().valid = true;
  record.incarnations[0].events.push_back(
      {.kind = RecordKind::kRejected,
       .t_ns = 2,
       .path = std::string("/ckpt/") + kName});
  EXPECT_EQ(WhyRefusalFails(record, {kName}), "");
}

// Returns the text that derives the violations of `store` from the lost
// checkpoint of step 4. `others`: further checkpoints that do not verify.
std::string WhyStoreFails(const std::vector<std::string>& others) {
  Record record = RecordOfALoss();
  Verdict verdict = StoreVerdict("does-not-verify", kName);
  InvariantReport& store = verdict.invariants.front();
  for (const std::string& name : others) {
    record.incarnations[0].events.push_back(
        {.kind = RecordKind::kSaveAcknowledged, .path = "/ckpt/" + name});
    record.left.checkpoints.push_back({.name = name, .reason = "torn"});
    store.findings.push_back({"store", "does-not-verify", name});
    ++store.violations;
  }
  return ExplainLoss(record, verdict).why_store;
}

TEST(LostCheckpointsTest, FurtherDamagedCheckpoints_ExcludeTheCause) {
  EXPECT_EQ(
      WhyStoreFails({"step-000000008-g1"}),
      "besides step-000000004-g1, the violations are about step-000000008-g1, "
      "which does not verify either");
  EXPECT_EQ(
      WhyStoreFails({"step-000000008-g1", "step-000000012-g1"}),
      "besides step-000000004-g1, the violations are about step-000000008-g1, "
      "step-000000012-g1, which do not verify either");
}

TEST(LostCheckpointsTest, DamageByAFaultIsNoCause) {
  Record record = RecordOfALoss();
  record.incarnations[0].events.push_back(
      {.kind = RecordKind::kDamaged,
       .path = "/ckpt/step-000000004-g1/MANIFEST.json"});
  EXPECT_EQ(ExplainLoss(record, StoreVerdict("does-not-verify", kName)).cause,
            "");
}

TEST(LostCheckpointsTest, CheckpointThatTheOracleExcusesIsNoCause) {
  const Record record = RecordOfALoss();
  EXPECT_EQ(ExplainLoss(record, StoreVerdict("temporary", kName)).cause, "");
  EXPECT_EQ(
      ExplainLoss(record, StoreVerdict("does-not-verify", "step-000000004-g12"))
          .cause,
      "");
}

// Returns a record in which the next generation finds no checkpoint, although
// one was acknowledged.
Record RecordOfAGoneOne() {
  Record record = RecordOfALoss();
  record.left = {.store_listed = true};
  record.incarnations[0].events[0].step = 4;
  record.incarnations.push_back(
      {.number = 2, .events = {{.kind = RecordKind::kGeneration, .t_ns = 9}}});
  return record;
}

TEST(LostCheckpointsTest, CheckpointWithoutRemainsIsTheCause) {
  Record record = RecordOfAGoneOne();
  const Verdict verdict = StoreVerdict("lost-checkpoint", kName);
  EXPECT_EQ(ExplainLoss(record, verdict).cause,
            "step-000000004-g1 was acknowledged, but nothing of it remained, "
            "though no process removed it");
  record.incarnations[0].events.push_back({.kind = RecordKind::kFaultFired,
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
    record.incarnations[0].events.push_back(
        {.kind = kind, .t_ns = 3, .path = std::string("/ckpt/") + kName});
    EXPECT_EQ(ExplainLoss(record, StoreVerdict("lost-checkpoint", kName)).cause,
              "")
        << RecordKindName(kind);
  }
}

TEST(LostCheckpointsTest, OnlyAPowerCutAfterTheAcknowledgementIsNamed) {
  Record record = RecordOfALoss();
  const Verdict verdict = StoreVerdict("does-not-verify", kName);
  record.machine = {{.kind = RecordKind::kPowerCut, .t_ns = 2}};
  EXPECT_THAT(ExplainLoss(record, verdict).cause,
              HasSubstr("the power cut damaged step-000000004-g1, although"));
  record.machine[0].t_ns = 0;
  EXPECT_THAT(ExplainLoss(record, verdict).cause,
              HasSubstr("though no fault damaged it"));
}

RecordEvent Saved(int64_t t_ns, uint64_t step) {
  return {.kind = RecordKind::kSaveAcknowledged,
          .t_ns = t_ns,
          .step = step,
          .path = fmt::format("/ckpt/step-{:09}-g1", step)};
}

RecordEvent Deleted(int64_t t_ns, uint64_t step) {
  return {.kind = RecordKind::kRetired,
          .t_ns = t_ns,
          .path = fmt::format("/ckpt/step-{:09}-g1", step)};
}

// Returns a record with these events, in which the checkpoint of step 10 is
// damaged and a worker then refuses to start.
Record RecordOfARefusal(int keep, std::vector<RecordEvent> events) {
  Record record;
  record.setup.keep = keep;
  events.push_back({.kind = RecordKind::kDamaged,
                    .t_ns = 50,
                    .path = "/ckpt/step-000000010-g1.tmp/model.safetensors",
                    .detail = "rot"});
  record.incarnations = {
      {.number = 1, .events = std::move(events)},
      {.number = 2,
       .events = {
           {.kind = RecordKind::kWorkerExited, .t_ns = 100, .count = 7}}}};
  return record;
}

constexpr const char* kRot =
    "no checkpoint can be loaded: model.safetensors of step-000000010-g1 was "
    "damaged by fault rot";

TEST(LostCheckpointsTest, CheckpointThatRetentionDeletedIsPartOfTheCause) {
  EXPECT_EQ(ExplainRefusal(RecordOfARefusal(
                1, {Saved(1, 5), Saved(2, 10), Deleted(3, 5)})),
            std::string(kRot) +
                "; the checkpoint of step 5 was deleted by retention (keep: "
                "1)");
  EXPECT_EQ(
      ExplainRefusal(
          RecordOfARefusal(1, {Saved(1, 3), Saved(2, 5), Deleted(3, 3),
                               Saved(4, 10), Deleted(5, 5)})),
      std::string(kRot) +
          "; the checkpoints of steps 3 and 5 were deleted by retention (keep: "
          "1)");
}

// The process of the chief was killed while it removed the checkpoint.
TEST(LostCheckpointsTest, RemovalThatAKillCutShort_IsADeletion) {
  RecordEvent begin = Deleted(3, 5);
  begin.kind = RecordKind::kRetireBegin;
  Record record = RecordOfARefusal(1, {Saved(1, 5), Saved(2, 10), begin});
  EXPECT_EQ(ExplainRefusal(record), kRot) << "the store was not listed";
  record.left = {.store_listed = true,
                 .checkpoints = {{.name = "step-000000010-g1"}}};
  EXPECT_EQ(ExplainRefusal(record),
            std::string(kRot) +
                "; the checkpoint of step 5 was deleted by retention (keep: "
                "1)");
  record.left.checkpoints.push_back(
      {.name = "step-000000005-g1", .valid = true});
  EXPECT_EQ(ExplainRefusal(record), kRot) << "the removal was undone";
}

// Returns the record of a refusal after a power loss, which left a torn
// checkpoint of step 10 and nothing of that of step 15.
Record RecordOfALyingDisk() {
  Record record;
  record.faults = {
      {.id = "dark", .kind = "power_loss", .disk = std::string(kLyingDisk)}};
  record.incarnations = {
      {.number = 1,
       .events = {Saved(1, 10),
                  Saved(2, 15),
                  {.kind = RecordKind::kFaultFired,
                   .t_ns = 3,
                   .step = 15,
                   .detail = "dark"}}},
      {.number = 2,
       .events = {
           {.kind = RecordKind::kWorkerExited, .t_ns = 100, .count = 7}}}};
  record.machine = {{.kind = RecordKind::kPowerCut,
                     .t_ns = 3,
                     .detail = std::string(kLyingDisk)}};
  record.left = {
      .store_listed = true,
      .checkpoints = {{.name = "step-000000010-g1", .reason = "torn"}}};
  return record;
}

TEST(LostCheckpointsTest, LyingDiskAndTheLostCheckpoint_AreTheCause) {
  Record record = RecordOfALyingDisk();
  EXPECT_EQ(ExplainRefusal(record),
            "the power cut at step 15 (fault dark) lost data that fsyncs had "
            "reported as durable (disk.profile is lying-fsync); no checkpoint "
            "can be loaded: step-000000010-g1 does not verify (torn); "
            "step-000000015-g1 was acknowledged, but nothing of it remained");
  record.left.temporary = {"step-000000015-g1.tmp"};
  EXPECT_THAT(ExplainRefusal(record),
              HasSubstr("; step-000000015-g1 was acknowledged, but only "
                        "step-000000015-g1.tmp is left"));
}

TEST(LostCheckpointsTest, CheckpointThatWasSetAsideIsNotCalledGone) {
  Record record = RecordOfALyingDisk();
  record.incarnations[1].events.insert(record.incarnations[1].events.begin(),
                                       {.kind = RecordKind::kRejectBegin,
                                        .t_ns = 50,
                                        .path = "/ckpt/step-000000015-g1"});
  EXPECT_THAT(ExplainRefusal(record), Not(HasSubstr("nothing of it remained")));
}

TEST(LostCheckpointsTest, FileThatAFaultDeletedIsNotCalledDamaged) {
  Record record = RecordOfARefusal(1, {Saved(2, 10)});
  record.faults = {{.id = "rot", .kind = "delete"}};
  EXPECT_EQ(ExplainRefusal(record),
            "no checkpoint can be loaded: model.safetensors of "
            "step-000000010-g1 was deleted by fault rot");
}

TEST(LostCheckpointsTest, ManyDeletedCheckpointsAreCounted) {
  std::vector<RecordEvent> events = {Saved(1, 1)};
  for (int64_t step = 2; step <= 10; ++step) {
    events.push_back(Saved(2 * step, static_cast<uint64_t>(step)));
    events.push_back(Deleted(2 * step + 1, static_cast<uint64_t>(step - 1)));
  }
  EXPECT_EQ(ExplainRefusal(RecordOfARefusal(1, std::move(events))),
            std::string(kRot) +
                "; 9 checkpoints of steps 1 to 9 were deleted by retention "
                "(keep: 1)");
}

TEST(LostCheckpointsTest, DeletionToMakeRoomIsNotCalledRetention) {
  EXPECT_EQ(ExplainRefusal(RecordOfARefusal(
                3, {Saved(1, 5), Saved(2, 10), Deleted(3, 5)})),
            std::string(kRot) + "; the checkpoint of step 5 was deleted");
}

TEST(LostCheckpointsTest, DeletionAfterTheRefusalIsNotNamed) {
  EXPECT_EQ(
      ExplainRefusal(RecordOfARefusal(1, {Saved(2, 10), Deleted(101, 5)})),
      kRot);
}

}  // namespace
}  // namespace gauntlet
