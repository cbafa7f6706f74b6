#include "engine/ckpt/protocol/lineage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gauntlet {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

LineageEntry At(uint64_t step, uint64_t written_by, uint64_t suffix = 0) {
  return {.name = {.step = step,
                   .phase = {},
                   .generation = suffix == 0 ? written_by : suffix},
          .state_digest = Digest{.high = 0, .low = step},
          .written_by = written_by};
}

ParentRecord Parent(uint64_t step, uint64_t written_by) {
  return {.name = CheckpointName{step, {}, written_by}.ToString(),
          .step = step,
          .state_digest = {.high = 0, .low = step},
          .written_by = written_by};
}

std::vector<std::string> Members(const std::vector<LineageEntry>& entries,
                                 const RecordedParents& parents) {
  std::vector<std::string> names;
  for (const size_t i : FindLineage(entries, parents).members) {
    names.push_back(entries[i].name.ToString());
  }
  return names;
}

TEST(LineageTest, HoldsTheNewestGenerationThenItsParentsChain) {
  EXPECT_THAT(
      Members({At(50, 1), At(100, 1, 2), At(150, 2), At(200, 3)},
              {{1, std::nullopt}, {2, Parent(100, 1)}, {3, Parent(150, 2)}}),
      ElementsAre("step-000000200-g3", "step-000000150-g2", "step-000000100-g2",
                  "step-000000050-g1"));
}

TEST(LineageTest, LeavesOutCheckpointsAfterTheSuccessorsParent) {
  EXPECT_THAT(Members({At(100, 1), At(150, 1), At(120, 2)},
                      {{1, std::nullopt}, {2, Parent(100, 1)}}),
              ElementsAre("step-000000120-g2", "step-000000100-g1"));
}

TEST(LineageTest, OrdersTheStatesOfOneStepAsTheyCome) {
  std::vector<LineageEntry> entries = {At(8, 1), At(8, 2), At(8, 3)};
  entries[0].phase = Phase::kInEpoch;
  entries[1].phase = Phase::kEvaluationDue;
  entries[2].phase = Phase::kCallbacksDue;
  EXPECT_THAT(Members(entries, {}),
              ElementsAre("step-000000008-g1", "step-000000008-g3",
                          "step-000000008-g2"));
}

TEST(LineageTest, LeavesOutGenerationThatIsNotAnAncestor) {
  EXPECT_THAT(
      Members({At(100, 1), At(110, 2), At(90, 2)},
              {{1, std::nullopt}, {2, Parent(80, 1)}, {3, Parent(100, 1)}}),
      ElementsAre("step-000000100-g1"));
}

TEST(LineageTest, FindsTheParentByStepAndDigest_WhateverItsSuffix) {
  EXPECT_THAT(
      Members({At(100, 1, 9)}, {{1, std::nullopt}, {2, Parent(100, 1)}}),
      ElementsAre("step-000000100-g9"));
  LineageEntry other = At(100, 3);
  other.state_digest = Digest{.high = 1, .low = 1};
  EXPECT_THAT(Members({other}, {{1, std::nullopt}, {2, Parent(100, 1)}}),
              IsEmpty());
}

TEST(LineageTest, EndsAtAColdStart) {
  EXPECT_THAT(
      Members({At(100, 1), At(20, 2)}, {{1, std::nullopt}, {2, std::nullopt}}),
      ElementsAre("step-000000020-g2"));
}

TEST(LineageTest, UsesTheNamesGeneration_IfTheManifestIsUnreadable) {
  LineageEntry damaged = At(100, 2, 2);
  damaged.state_digest.reset();
  EXPECT_THAT(
      Members({damaged, At(50, 1)}, {{1, std::nullopt}, {2, Parent(100, 1)}}),
      ElementsAre("step-000000100-g2", "step-000000050-g1"));
}

TEST(LineageTest, IgnoresAParentOfTheSameGeneration) {
  EXPECT_THAT(Members({At(100, 2)}, {{2, Parent(90, 2)}}),
              ElementsAre("step-000000100-g2"));
}

}  // namespace
}  // namespace gauntlet
