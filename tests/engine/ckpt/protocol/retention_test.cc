#include "engine/ckpt/protocol/retention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/ckpt/test_world.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

using testing::ElementsAre;

constexpr int64_t kHour = 3600;

class RetentionTest : public testing::Test {
 protected:
  // Saves these steps as one process, at intervals of an hour.
  void SaveHourly(const std::vector<uint64_t>& steps, int64_t every_hours,
                  int keep = 2) {
    CheckpointStore store =
        CheckpointStore::Open(test_.world,
                              {.directory = std::string(kStore),
                               .keep = keep,
                               .keep_every_seconds = every_hours * kHour})
            .value();
    const Claim claim = store.ClaimGeneration(std::string(kJob)).value();
    for (const uint64_t step : steps) {
      test_.clock.unix_seconds += kHour;
      const auto saved = Save(store, claim.generation, step);
      ASSERT_TRUE(saved.ok()) << saved.status().ToString();
    }
  }
  std::vector<uint64_t> StepsLeft() {
    std::vector<uint64_t> steps;
    for (const std::string& name : Checkpoints(storage_, std::string(kStore))) {
      steps.push_back(std::stoull(name.substr(5, 9)));
    }
    return steps;
  }

  MemoryStorage storage_;
  TestWorld test_{storage_};
};

// FindOldestRemovable chooses among checkpoints older than the newest valid
// one, here index 2.
TEST(OldestSpareTest, PermanentCheckpointStays_WhenThereIsNoRoom) {
  std::vector<CommittedCheckpoint> lineage(4);
  EXPECT_EQ(FindOldestRemovable(lineage, 2), 0u);
  lineage[0].mark = {.keep = RetentionClass::kPermanent};
  EXPECT_EQ(FindOldestRemovable(lineage, 2), 1u);
  lineage[1].mark = {.keep = RetentionClass::kPermanent};
  EXPECT_EQ(FindOldestRemovable(lineage, 2), std::nullopt);
  EXPECT_EQ(FindOldestRemovable(lineage, 0), std::nullopt);
}

TEST(OldestSpareTest, KeepsTheNewestFiniteCheckpoint) {
  std::vector<CommittedCheckpoint> lineage(3);
  lineage[1].not_finite_since = 7;
  lineage[2].not_finite_since = 7;
  EXPECT_EQ(FindOldestRemovable(lineage, 2), 1u);
  EXPECT_EQ(FindOldestRemovable(std::span(lineage).first(2), 1), std::nullopt);
}

TEST_F(RetentionTest, KeepsTheNewestAndOneOfEveryNHours) {
  SaveHourly({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 3);
  EXPECT_THAT(StepsLeft(), ElementsAre(3, 6, 8, 9, 10));
}

TEST_F(RetentionTest, WithoutHoursOnlyTheNewestStay) {
  SaveHourly({1, 2, 3, 4, 5}, 0);
  EXPECT_THAT(StepsLeft(), ElementsAre(4, 5));
}

// Returns true for each checkpoint that is removed. `finite` states which ones
// are finite.
std::vector<bool> SurplusOf(const std::vector<bool>& finite, int keep) {
  std::vector<CommittedCheckpoint> lineage(finite.size());
  for (size_t i = 0; i < finite.size(); ++i) {
    if (!finite[i]) lineage[i].not_finite_since = 1;
  }
  return FindSurplus(lineage, keep);
}

TEST_F(RetentionTest, KeepsTheNewestAndTheNewestFiniteOne) {
  EXPECT_THAT(SurplusOf({true, true, true}, 1), ElementsAre(true, true, false));
  EXPECT_THAT(SurplusOf({true, true, false}, 1),
              ElementsAre(true, false, false));
  EXPECT_THAT(SurplusOf({true, true, false, false, false}, 2),
              ElementsAre(true, false, true, false, false));
  // A run that has become finite again no longer needs the older finite
  // checkpoint.
  EXPECT_THAT(SurplusOf({true, false, false, true}, 1),
              ElementsAre(true, true, true, false));
  EXPECT_THAT(SurplusOf({false, false}, 1), ElementsAre(true, false));
}

// Each save is by a new process, which learns of earlier ones from manifests.
TEST_F(RetentionTest, NewestFiniteOneStaysAcrossProcesses) {
  for (uint64_t step = 1; step <= 6; ++step) {
    CheckpointStore store = OpenStore(test_.world, 2);
    const Claim claim = store.ClaimGeneration(std::string(kJob)).value();
    const auto since = step < 3 ? std::nullopt : std::optional<uint64_t>(3);
    ASSERT_TRUE(Save(store, claim.generation, step, since).ok());
  }
  EXPECT_THAT(StepsLeft(), ElementsAre(2, 5, 6));
}

TEST_F(RetentionTest, NewestFiniteCheckpoint_MayBePermanent) {
  SaveHourly({1, 2, 3}, 3, 1);
  CheckpointStore store = OpenStore(test_.world, 1);
  const Claim claim = store.ClaimGeneration(std::string(kJob)).value();
  ASSERT_TRUE(Save(store, claim.generation, 4, 4).ok());
  EXPECT_THAT(StepsLeft(), ElementsAre(3, 4));
}

TEST_F(RetentionTest, HoursContinueAcrossProcesses) {
  for (uint64_t step = 1; step <= 10; ++step) SaveHourly({step}, 3);
  EXPECT_THAT(StepsLeft(), ElementsAre(3, 6, 8, 9, 10));
}

TEST_F(RetentionTest, PermanentCheckpointsRemain_WhenNewerOnesAreDamaged) {
  for (uint64_t step = 1; step <= 4; ++step) SaveHourly({step}, 3, 1);
  EXPECT_THAT(StepsLeft(), ElementsAre(3, 4));
  for (const std::string& name : Checkpoints(storage_, std::string(kStore))) {
    if (!name.starts_with("step-000000004")) continue;
    storage_.Bytes(fmt::format("{}/{}/MANIFEST.json", kStore, name))[50] ^= 1;
  }
  EXPECT_EQ(Recover(test_.world).step, 3u);
}

// The clock goes back by a year after the third save: no further checkpoint is
// removed because of it, and the count of hours begins again.
TEST_F(RetentionTest, ClockThatGoesBackIsTolerated) {
  SaveHourly({1, 2, 3}, 3);
  test_.clock.unix_seconds -= 365 * 24 * kHour;
  SaveHourly({4, 5, 6, 7, 8}, 3);
  EXPECT_THAT(StepsLeft(), ElementsAre(3, 6, 7, 8));
  SaveHourly({9, 10}, 3);
  EXPECT_THAT(StepsLeft(), ElementsAre(3, 7, 8, 9, 10));
}

TEST_F(RetentionTest, StartsToCountHours_IfAStoreHasNoCount) {
  SaveHourly({1, 2}, 0);
  SaveHourly({3, 4, 5, 6}, 3, 1);
  EXPECT_THAT(StepsLeft(), ElementsAre(5, 6));
}

TEST_F(RetentionTest, NegativeHoursAreRefused) {
  const auto store = CheckpointStore::Open(
      test_.world,
      {.directory = std::string(kStore), .keep_every_seconds = -1});
  EXPECT_EQ(store.status().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace gauntlet
