#include "harness/run/failure/begun_saves.h"

#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

using K = RecordKind;

RecordEvent At(int64_t t_ns, RecordKind kind, uint64_t step) {
  return {.kind = kind, .t_ns = t_ns, .step = step};
}

Record RecordOf(std::vector<RecordEvent> events) {
  Record record;
  record.lives = {{.events = std::move(events)}};
  return record;
}

// Returns the ending of the save of that step; nullopt if it had not begun.
std::optional<SaveEnding> EndingAt(const Record& record, uint64_t step,
                                   int64_t until_ns) {
  for (const BegunSave& save : SavesBegunBy(record, until_ns)) {
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
  EXPECT_EQ(PendingSavesText(record, 0, 29), "");
  EXPECT_EQ(PendingSavesText(record, 0, 30),
            "the save of step 8 began and was not acknowledged");
}

TEST(BegunSavesTest, EventsOfAllIncarnationsCount) {
  Record record = RecordOf({At(10, K::kSaveBegin, 8)});
  record.lives.push_back(
      {.life = 2,
       .events = {At(20, K::kSaveBegin, 8), At(30, K::kSaveAcknowledged, 8)}});
  const std::vector<BegunSave> saves = SavesBegunBy(record, 25);
  ASSERT_EQ(saves.size(), 1U);
  EXPECT_EQ(saves[0].begin_ns, 20);
  EXPECT_EQ(EndingAt(record, 8, 30), SaveEnding::kAcknowledged);
}

TEST(BegunSavesTest, TextNamesPendingSavesOfLaterSteps) {
  const Record record =
      RecordOf({At(10, K::kSaveBegin, 4), At(20, K::kSaveBegin, 8),
                At(30, K::kSaveBegin, 12), At(40, K::kSaveAcknowledged, 12)});
  EXPECT_EQ(PendingSavesText(record, 0, 50),
            "the saves of steps 4, 8 began and were not acknowledged");
  EXPECT_EQ(PendingSavesText(record, 4, 50),
            "the save of step 8 began and was not acknowledged");
  EXPECT_EQ(PendingSavesText(record, 8, 50), "");
}

}  // namespace
}  // namespace gauntlet
