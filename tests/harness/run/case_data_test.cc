#include "harness/run/case_data.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/real/storage/posix_storage.h"
#include "tests/engine/real/scratch_directory.h"
#include "tests/harness/run/small_cases.h"

namespace gauntlet {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

Status CheckOf(const Case& one) {
  PosixStorage storage;
  return CaseDataChecker(storage).Check(one);
}

Case CaseOf(const DataSpec& data) {
  Case one = CleanCase();
  one.train.job.data = data;
  return one;
}

TEST(CaseDataTest, AcceptsGeneratedData) {
  EXPECT_TRUE(CheckOf(CleanCase()).ok());
}

TEST(CaseDataTest, NamesTheCaseOfMissingFiles) {
  const ScratchDirectory scratch;
  const Status status =
      CheckOf(CaseOf({.kind = DataKind::kIdx, .path = scratch / "none"}));
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_THAT(status.message(),
              AllOf(StartsWith("case c: job: "), HasSubstr(scratch / "none")));
}

TEST(CaseDataTest, RefusesMoreStepsThanTheDataGive) {
  Case one = CleanCase();
  one.train.job.data.steps_per_epoch = 7;
  EXPECT_THAT(CheckOf(one).message(),
              HasSubstr("expected at most the 6 that the data give, found 7"));
}

TEST(CaseDataTest, RefusesFewerRowsThanAGlobalBatch) {
  Case one = CleanCase();
  one.train.job.data.samples = 15;
  EXPECT_THAT(CheckOf(one).message(),
              HasSubstr("fewer than the 16 of a global batch"));
}

TEST(CaseDataTest, RefusesShardsByFileOfDataWithoutFiles) {
  Case one = CleanCase();
  one.train.job.data.shard = ShardPolicy::kFile;
  EXPECT_EQ(CheckOf(one).code(), Code::kInvalidArgument);
}

TEST(CaseDataTest, ChecksTheRunOfAWarmStart) {
  Case one = CleanCase();
  one.before = EarlierSetup{.workers = 2, .epochs = 1, .steps_per_epoch = 99};
  EXPECT_THAT(CheckOf(one).message(), HasSubstr("case c: warm_start: "));
}

}  // namespace
}  // namespace gauntlet
