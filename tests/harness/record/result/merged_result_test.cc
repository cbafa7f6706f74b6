#include "harness/record/result/merged_result.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gauntlet {
namespace {

using testing::AllOf;
using testing::HasSubstr;

ResultPart Shard(int index, const std::string& name) {
  return {.result = {.run = "run-" + name,
                     .build = "b1",
                     .command = "gauntlet run s --shard " +
                                std::to_string(index) + "/2 --world sim",
                     .scenarios = 2,
                     .seconds = 1.5,
                     .cases = {{.name = name,
                                .scenario = name,
                                .file = "s.yaml",
                                .world = "sim"}}},
          .name = "shard-" + std::to_string(index)};
}

std::string MergeError(const ResultPart& first, const ResultPart& second) {
  return MergeResults({first, second}, "all").error;
}

TEST(MergedResultTest, UnitesCasesAndAddsUp) {
  const auto merged = MergeResults({Shard(1, "a"), Shard(2, "b")}, "all");
  ASSERT_TRUE(merged.ok()) << merged.error;
  const RunResult& result = *merged.value;
  EXPECT_EQ(result.run, "all");
  EXPECT_EQ(result.build, "b1");
  EXPECT_EQ(result.command, "gauntlet run s --world sim");
  ASSERT_EQ(result.cases.size(), 2u);
  EXPECT_EQ(result.cases[1].name, "b");
  EXPECT_EQ(result.seconds, 3.0);
  EXPECT_EQ(result.scenarios, 2u);
}

TEST(MergedResultTest, SameCaseTwiceNamesBoth) {
  ResultPart again = Shard(2, "a");
  again.result.cases[0].seconds = 2;
  EXPECT_THAT(MergeError(Shard(1, "a"), again),
              AllOf(HasSubstr("shard-2: case a (sim) is in shard-1 too")));
  again.result.cases[0].world = "real";
  EXPECT_EQ(MergeError(Shard(1, "a"), again), "");
}

TEST(MergedResultTest, CopyOfARunCountsOnce) {
  ResultPart copy = Shard(1, "a");
  copy.name = "copy";
  copy.result.cases[0].directory = "/elsewhere/a.sim";
  const auto merged = MergeResults({Shard(1, "a"), copy}, "all");
  ASSERT_TRUE(merged.ok()) << merged.error;
  EXPECT_EQ(merged.value->cases.size(), 1u);
  EXPECT_EQ(merged.value->seconds, 1.5);
}

TEST(MergedResultTest, CopyWithOtherFoldersOfTries_CountsOnce) {
  ResultPart original = Shard(1, "a");
  original.result.cases[0].tries = {{.seconds = 1, .directory = "/here/a"}};
  ResultPart copy = original;
  copy.result.cases[0].tries[0].directory = "/elsewhere/a";
  const auto merged = MergeResults({original, copy}, "all");
  ASSERT_TRUE(merged.ok()) << merged.error;
  EXPECT_EQ(merged.value->cases.size(), 1u);
}

TEST(MergedResultTest, RefusesOtherBuildsAndSeeds) {
  ResultPart other = Shard(2, "b");
  other.result.build = "b2";
  EXPECT_EQ(MergeError(Shard(1, "a"), other),
            "shard-2: build b2, but build b1 in shard-1: results of different "
            "builds cannot be merged");
  other = Shard(2, "b");
  other.result.seed = 7;
  EXPECT_THAT(MergeError(Shard(1, "a"), other),
              HasSubstr("shard-2: seed 7, but no --seed in shard-1"));
}

}  // namespace
}  // namespace gauntlet
