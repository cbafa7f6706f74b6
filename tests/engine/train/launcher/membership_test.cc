#include "engine/train/launcher/membership.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gauntlet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string RecordCulpritThreeTimes(Membership& membership, int worker) {
  membership.RecordCulprit(worker);
  membership.RecordCulprit(worker);
  return membership.RecordCulprit(worker);
}

TEST(MembershipTest, EachAttemptHasTheWorkersOfItsEntryAndLaterOnesOfTheLast) {
  const Membership membership({.workers = 4, .per_attempt = {4, 2, 1, 3}});
  EXPECT_THAT(membership.WorkersOf(1), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(membership.WorkersOf(2), ElementsAre(0, 1));
  EXPECT_THAT(membership.WorkersOf(3), ElementsAre(0));
  EXPECT_THAT(membership.WorkersOf(4), ElementsAre(0, 1, 2));
  EXPECT_THAT(membership.WorkersOf(9), ElementsAre(0, 1, 2));
}

TEST(MembershipTest, ThreeFailuresInARowLeaveAWorkerOut) {
  Membership membership({.workers = 3, .min_workers = 2, .per_attempt = {}});
  EXPECT_EQ(membership.RecordCulprit(0), "");
  EXPECT_EQ(membership.RecordCulprit(0), "");
  EXPECT_THAT(membership.WorkersOf(3), ElementsAre(0, 1, 2));
  EXPECT_EQ(membership.RecordCulprit(0),
            "worker 0 failed 3 times in a row; going on without it");
  EXPECT_THAT(membership.WorkersOf(4), ElementsAre(1, 2));
  EXPECT_EQ(membership.too_few_reason(), "");
}

TEST(MembershipTest, AnotherWorkersFailureOrNobodysBreaksTheRow) {
  Membership membership({.workers = 3, .min_workers = 1, .per_attempt = {}});
  for (int i = 0; i < 4; ++i) {
    membership.RecordCulprit(0);
    membership.RecordCulprit(0);
    EXPECT_EQ(
        membership.RecordCulprit(i % 2 == 0 ? std::optional(1) : std::nullopt),
        "");
  }
  EXPECT_THAT(membership.WorkersOf(1), ElementsAre(0, 1, 2));
}

TEST(MembershipTest, SpareReplacesTheExcludedWorker) {
  Membership membership({.workers = 3, .min_workers = 2, .per_attempt = {2}});
  RecordCulpritThreeTimes(membership, 1);
  EXPECT_THAT(membership.WorkersOf(4), ElementsAre(0, 2));
}

TEST(MembershipTest, JobCannotContinueBelowTheMinimumOfWorkers) {
  Membership membership({.workers = 3, .min_workers = 2, .per_attempt = {}});
  RecordCulpritThreeTimes(membership, 0);
  EXPECT_THAT(RecordCulpritThreeTimes(membership, 2),
              HasSubstr("expected at least 2"));
  EXPECT_EQ(membership.too_few_reason(),
            "worker 2 failed 3 times in a row; without it there are 1 workers, "
            "expected at least 2");
}

TEST(MembershipTest, JobThatNeedsAllItsWorkersLeavesNoneOut) {
  Membership membership({.workers = 2, .min_workers = 0, .per_attempt = {}});
  EXPECT_EQ(RecordCulpritThreeTimes(membership, 1), "");
  EXPECT_THAT(membership.WorkersOf(4), ElementsAre(0, 1));
  EXPECT_EQ(membership.too_few_reason(), "");
}

}  // namespace
}  // namespace gauntlet
