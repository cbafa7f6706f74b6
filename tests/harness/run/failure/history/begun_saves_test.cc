#include "harness/run/failure/history/begun_saves.h"

#include <optional>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gauntlet {
namespace {

using K = RecordKind;

RecordEvent At(int64_t t_ns, RecordKind kind, uint64_t step) {
  return {.kind = kind, .t_ns = t_ns, .step = step};
}

Record RecordOf(std::vector<RecordEvent> events) {
  Record record;
  record.incarnations = {{.events = std::move(events)}};
  return record;
}

// Returns the ending of the save of that step; nullopt if it had not begun.
std::optional<SaveEnding> EndingAt(const Record& record, uint64_t step,
                                   int64_t until_ns) {
  for (const BegunSave& save : SavesBegunBy(record, {.t_ns = until_ns})) {
    if (save.step == step) return save.ending;
  }
  return std::nullopt;
}

TEST(BegunSavesTest, SaveIsPendingFromItsBeginToItsEnd) {
  const Record record =
      RecordOf({At(10, K::kSaveBegin, 4), At(20, K::kSaveAcknowledged, 4),
                At(30, K::kSaveBegin, 8), At(40, K::kSaveFailed, 8)});
  EXPECT_EQ(EndingAt(record, 4, 9), std::nullopt);
  EXPECT_EQ(EndingAt(record, 4, 19), SaveEnding::kPending);
  EXPECT_EQ(EndingAt(record, 4, 20), SaveEnding::kAcknowledged);
  EXPECT_EQ(EndingAt(record, 8, 39), SaveEnding::kPending);
  EXPECT_EQ(EndingAt(record, 8, 40), SaveEnding::kFailed);
}

TEST(BegunSavesTest, FailedSaveThatBeginsAgainIsPending) {
  const Record record =
      RecordOf({At(10, K::kSaveBegin, 8), At(20, K::kSaveFailed, 8),
                At(30, K::kSaveBegin, 8)});
  EXPECT_EQ(EndingAt(record, 8, 29), SaveEnding::kFailed);
  EXPECT_EQ(EndingAt(record, 8, 30), SaveEnding::kPending);
  EXPECT_EQ(UnfinishedSavesText(record, 0, {.t_ns = 29}),
            "the save of step 8 failed");
  EXPECT_EQ(UnfinishedSavesText(record, 0, {.t_ns = 30}),
            "the save of step 8 began and was not acknowledged");
}

TEST(BegunSavesTest, EventsOfAllIncarnationsCount) {
  Record record = RecordOf({At(10, K::kSaveBegin, 8)});
  record.incarnations.push_back(
      {.number = 2,
       .events = {At(20, K::kSaveBegin, 8), At(30, K::kSaveAcknowledged, 8)}});
  const std::vector<BegunSave> saves = SavesBegunBy(record, {.t_ns = 25});
  ASSERT_EQ(saves.size(), 1U);
  EXPECT_EQ(saves[0].begin_ns, 20);
  EXPECT_EQ(EndingAt(record, 8, 30), SaveEnding::kAcknowledged);
}

TEST(BegunSavesTest, SaveAfterTheEventAtTheSameTime_HasNotBegun) {
  RecordEvent resumed = At(20, K::kResumed, 4);
  resumed.order = 7;
  RecordEvent begin = At(20, K::kSaveBegin, 8);
  begin.order = 8;
  Record record = RecordOf({resumed, begin});
  EXPECT_EQ(UnfinishedSavesText(record, 4, resumed), "");
  record.incarnations[0].events[1].order = 6;
  EXPECT_EQ(UnfinishedSavesText(record, 4, resumed),
            "the save of step 8 began and was not acknowledged");
}

TEST(BegunSavesTest, TextNamesPendingSavesOfLaterSteps) {
  const Record record =
      RecordOf({At(10, K::kSaveBegin, 4), At(20, K::kSaveBegin, 8),
                At(30, K::kSaveBegin, 12), At(40, K::kSaveAcknowledged, 12)});
  EXPECT_EQ(UnfinishedSavesText(record, 0, {.t_ns = 50}),
            "the saves of steps 4 and 8 began and were not acknowledged");
  EXPECT_EQ(UnfinishedSavesText(record, 4, {.t_ns = 50}),
            "the save of step 8 began and was not acknowledged");
  EXPECT_EQ(UnfinishedSavesText(record, 8, {.t_ns = 50}), "");
}

TEST(BegunSavesTest, TextNamesFailedSavesBeforePendingOnes) {
  const Record record =
      RecordOf({At(10, K::kSaveBegin, 4), At(20, K::kSaveFailed, 4),
                At(30, K::kSaveFailed, 8), At(40, K::kSaveBegin, 12)});
  EXPECT_EQ(
      UnfinishedSavesText(record, 0, {.t_ns = 50}),
      "the saves of steps 4 and 8 failed; the save of step 12 began and was "
      "not acknowledged");
  EXPECT_EQ(UnfinishedSavesText(record, 4, {.t_ns = 50}),
            "the save of step 8 failed; the save of step 12 began and was not "
            "acknowledged");
}

// The error of a failed save, and the reasons that are expected for it:
// `by_fault` if a fault fired that can fail the save, `alone` if none did.
struct FailureCase {
  const char* error;
  const char* by_fault;
  const char* alone;
};

TEST(BegunSavesTest, FailureNamesTheFaultAndTheFile) {
  const FailureCase kCases[] = {
      {"/ckpt/step-000000008-g1.tmp/MANIFEST.json: ckpt.manifest.write: "
       "injected ENOSPC",
       "fault full (ENOSPC in MANIFEST.json)", "ENOSPC in MANIFEST.json"},
      {"rank 1's shard: /ckpt/step-000000008-g1.tmp/model-00002-of-00002."
       "safetensors: ckpt.shard.fsync: injected ENOSPC (needs 12.3 KiB)",
       "fault full (ENOSPC in model-00002-of-00002.safetensors)",
       "ENOSPC in model-00002-of-00002.safetensors"},
      {"ckpt.begin: injected EIO", "fault full (EIO at ckpt.begin)",
       "EIO at ckpt.begin"},
      {"rank 1's shard: ckpt.shard.done: injected EIO",
       "fault full (EIO at ckpt.shard.done)", "EIO at ckpt.shard.done"},
      {"/ckpt/step-000000008-g1.tmp/MANIFEST.json: write: injected: 0 of 1700 "
       "bytes landed",
       "fault full (MANIFEST.json: write: injected: 0 of 1700 bytes landed)",
       "MANIFEST.json: write: injected: 0 of 1700 bytes landed"},
      {"rank 0's shard: write /ckpt/step-000000008-g1.tmp/model.safetensors: "
       "disk full: 4096 bytes more (the file system of /ckpt has 3.0 KiB)",
       "fault full (model.safetensors: disk full: 4096 bytes more (the file "
       "system of /ckpt has 3.0 KiB))",
       "model.safetensors: disk full: 4096 bytes more (the file system of "
       "/ckpt has 3.0 KiB)"},
      {"", "fault full", ""},
  };
  for (const auto& [error, by_fault, alone] : kCases) {
    // The second save has no event of its begin.
    Record record =
        RecordOf({At(10, K::kSaveBegin, 4), At(12, K::kFaultFired, 4),
                  At(15, K::kSaveFailed, 4), At(30, K::kFaultFired, 8),
                  At(30, K::kSaveFailed, 8)});
    for (RecordEvent& event : record.incarnations[0].events) {
      event.detail = event.kind == K::kFaultFired ? "full" : error;
    }
    record.faults = {{.id = "full", .kind = "errno", .in_save = true}};
    const std::vector<BegunSave> saves = SavesBegunBy(record, {.t_ns = 50});
    ASSERT_EQ(saves.size(), 2U);
    for (const BegunSave& save : saves) {
      EXPECT_EQ(FailureReason(record, save), by_fault);
    }
    record.faults[0].kind = "slow";  // a kind that fails no operation
    for (const BegunSave& save : saves) {
      EXPECT_EQ(FailureReason(record, save), alone);
    }
  }
}

TEST(BegunSavesTest, EachFailedSaveHasItsOwnFault) {
  Record record =
      RecordOf({At(10, K::kSaveBegin, 5), At(11, K::kFaultFired, 5),
                At(12, K::kSaveFailed, 5), At(20, K::kSaveBegin, 10),
                At(21, K::kFaultFired, 10), At(22, K::kSaveFailed, 10),
                At(30, K::kSaveBegin, 15), At(31, K::kFaultFired, 15),
                At(32, K::kSaveFailed, 15)});
  record.faults = {{.id = "e", .kind = "errno", .in_save = true},
                   {.id = "g", .kind = "errno", .in_save = true}};
  std::vector<RecordEvent>& events = record.incarnations[0].events;
  events[1].detail = "e";
  events[4].detail = "e";
  events[7].detail = "g";
  events[2].detail = "/ckpt/step-000000005-g1.tmp: ckpt.rename: injected EIO";
  events[5].detail = "/ckpt/step-000000010-g1.tmp: ckpt.rename: injected EIO";
  events[8].detail = "ckpt.begin: injected EMFILE";
  EXPECT_EQ(FailedSavesText(record, INT64_MIN),
            "the saves of steps 5 and 10 failed: fault e (EIO in "
            "step-000000010-g1.tmp); the save of step 15 failed: fault g "
            "(EMFILE at ckpt.begin)");
}

TEST(BegunSavesTest, SaveThatFailedIsRepeatedByALaterIncarnation) {
  Record record;
  record.incarnations = {
      {.number = 1,
       .events = {{.kind = RecordKind::kSaveFailed, .t_ns = 10, .step = 4},
                  {.kind = RecordKind::kSaveFailed, .t_ns = 20, .step = 8},
                  {.kind = RecordKind::kSaveAcknowledged,
                   .t_ns = 30,
                   .step = 8}}},
      {.number = 2,
       .events = {
           {.kind = RecordKind::kSaveAcknowledged, .t_ns = 40, .step = 4},
           {.kind = RecordKind::kSaveAcknowledged, .t_ns = 50, .step = 12}}}};
  EXPECT_THAT(StepsSavedAfterRestart(record), testing::ElementsAre(4));
}

}  // namespace
}  // namespace gauntlet
