#include "harness/run/failure/loss_differences.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gauntlet {
namespace {

RecordEvent Step(uint64_t step, uint32_t loss_bits) {
  return {.kind = RecordKind::kStep,
          .t_ns = static_cast<int64_t>(step),
          .step = step,
          .loss_bits = loss_bits};
}

// Returns a record whose reference run has `steps` steps, each with a loss of
// 1.
Record WithReference(uint64_t steps) {
  Record record;
  for (uint64_t step = 1; step <= steps; ++step) {
    record.golden.entries.push_back({.step = step, .loss_bits = 0x3f800000});
  }
  return record;
}

TEST(LossDifferencesTest, ComparesWithTheReference) {
  Record record = WithReference(3);
  record.incarnations = {
      {.worker = 0, .events = {Step(1, 0x3f800000), Step(2, 0x3f800002)}},
      {.worker = 1, .events = {Step(1, 0x3f800000), Step(2, 0x3f800002)}},
      {.worker = 1, .number = 2, .events = {Step(2, 0x3f800000), Step(9, 0)}}};
  const LossDifferences losses = CompareLosses(record);
  EXPECT_EQ(losses.compared, 3u);
  EXPECT_EQ(losses.differing, 1u);
  const LossDifference expected = {.place = "step 2",
                                   .found = "1.0000002",
                                   .found_bits = "3f800002",
                                   .expected = "1",
                                   .expected_bits = "3f800000",
                                   .ulps = 2};
  EXPECT_THAT(losses.first, testing::ElementsAre(expected));
}

TEST(LossDifferencesTest, ListsTheFirst) {
  Record record = WithReference(100);
  std::vector<RecordEvent>& events = record.incarnations.emplace_back().events;
  for (uint64_t step = 1; step <= 100; ++step) events.push_back(Step(step, 0));
  const LossDifferences losses = CompareLosses(record);
  EXPECT_EQ(losses.differing, 100u);
  EXPECT_EQ(losses.first.size(), 20u);
  EXPECT_EQ(losses.first.back().place, "step 20");
}

}  // namespace
}  // namespace gauntlet
