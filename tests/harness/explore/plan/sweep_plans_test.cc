#include "harness/explore/plan/sweep_plans.h"

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

PlanSpace SpaceOf(std::vector<FaultKind> kinds, std::vector<Point> points) {
  return {.workers = 2,
          .steps = 8,
          .epochs = 1,
          .max_faults = 2,
          .kinds = std::move(kinds),
          .points = std::move(points)};
}

// Returns a report in which each planned fault fired, in the incarnation of its
// site.
CaseReport Fired(const ExploreCase& one, uint64_t restarts) {
  CaseReport report;
  report.number = one.number;
  report.restarts = restarts;
  for (const Fault& fault : one.plan.faults) {
    report.fired.push_back({.kind = fault.kind,
                            .point = fault.site.point,
                            .phase = FaultPhase::kInEpoch,
                            .incarnation = fault.site.incarnation});
  }
  return report;
}

CaseReport NotFired(const ExploreCase& one) {
  CaseReport report;
  report.number = one.number;
  return report;
}

TEST(SweepPlansTest, FirstRoundHasEveryPointWorkerAndForm) {
  SweepPlans plans({SpaceOf({FaultKind::kCrash, FaultKind::kErrno},
                            {Point::kStepBegin, Point::kShardWrite})},
                   1);
  // Each point gets a crash, an errno once and an errno always; a point that
  // writes also gets ENOSPC.
  EXPECT_EQ(plans.NextRound().size(), 2u * (1 + 2) + 2u * (1 + 3));
}

TEST(SweepPlansTest, Series_EndsAtTheFirstOccurrenceThatDoesNotFire) {
  SweepPlans plans({SpaceOf({FaultKind::kCrash}, {Point::kStepBegin})}, 1);
  for (const ExploreCase& one : plans.NextRound())
    plans.AddReport(Fired(one, 0));
  const std::vector<ExploreCase> second = plans.NextRound();
  ASSERT_EQ(second.size(), 2u);
  EXPECT_EQ(second[0].number, 2u);
  EXPECT_EQ(second[0].plan.faults.front().site.occurrence, 2u);
  plans.AddReport(Fired(second[0], 0));
  plans.AddReport(NotFired(second[1]));
  EXPECT_EQ(plans.NextRound().size(), 1u);
}

TEST(SweepPlansTest, FaultThatCausesARestartIsFollowedByOneInTheRecovery) {
  SweepPlans plans({SpaceOf({FaultKind::kCrash}, {Point::kStepBegin})}, 1);
  const std::vector<ExploreCase> singles = plans.NextRound();
  plans.AddReport(Fired(singles[0], 1));
  plans.AddReport(NotFired(singles[1]));
  for (const ExploreCase& one : plans.NextRound())
    plans.AddReport(NotFired(one));
  const std::vector<ExploreCase> pairs = plans.NextRound();
  ASSERT_EQ(pairs.size(), 2u);  // one first fault, two workers
  const std::vector<Fault>& faults = pairs[0].plan.faults;
  ASSERT_EQ(faults.size(), 2u);
  EXPECT_EQ(faults[1].after, faults[0].id);
  EXPECT_EQ(faults[1].site.incarnation, 2);
  EXPECT_TRUE(Validate(pairs[0].plan).ok());
}

TEST(SweepPlansTest, RecoveryFromACheckpointHasASecondFaultOfItsOwn) {
  SweepPlans plans({SpaceOf({FaultKind::kCrash}, {Point::kStepBegin})}, 1);
  for (const ExploreCase& one : plans.NextRound())
    plans.AddReport(Fired(one, 1));
  for (const ExploreCase& one : plans.NextRound()) {
    CaseReport report = Fired(one, 1);
    report.resumed = true;
    plans.AddReport(report);
  }
  for (const ExploreCase& one : plans.NextRound())
    plans.AddReport(NotFired(one));
  for (const uint64_t hit : {1, 2}) {
    const std::vector<ExploreCase> pairs = plans.NextRound();
    ASSERT_EQ(pairs.size(), 2u);  // two workers
    EXPECT_EQ(pairs[0].plan.faults[0].site.occurrence, hit);
    for (const ExploreCase& one : pairs) plans.AddReport(NotFired(one));
  }
}

TEST(SweepPlansTest, SecondFaultBehindTheRecoveryEndsItsSeries) {
  SweepPlans plans({SpaceOf({FaultKind::kCrash}, {Point::kStepBegin})}, 1);
  const std::vector<ExploreCase> singles = plans.NextRound();
  plans.AddReport(Fired(singles[0], 1));
  plans.AddReport(NotFired(singles[1]));
  for (const ExploreCase& one : plans.NextRound())
    plans.AddReport(NotFired(one));
  for (const ExploreCase& one : plans.NextRound()) {
    CaseReport report = Fired(one, 2);
    report.recovered_before_last = true;
    plans.AddReport(report);
  }
  EXPECT_TRUE(plans.NextRound().empty());
  EXPECT_EQ(plans.Progress(), "done");
}

TEST(SweepPlansTest, OneFaultAtMostMeansNoPairs) {
  PlanSpace space = SpaceOf({FaultKind::kCrash}, {Point::kStepBegin});
  space.max_faults = 1;
  SweepPlans plans({space}, 1);
  for (const ExploreCase& one : plans.NextRound())
    plans.AddReport(Fired(one, 1));
  for (const ExploreCase& one : plans.NextRound())
    plans.AddReport(NotFired(one));
  EXPECT_TRUE(plans.NextRound().empty());
}

TEST(SweepPlansTest, FurtherSetup_TriesTheUnreachedPoints) {
  PlanSpace space =
      SpaceOf({FaultKind::kCrash}, {Point::kStepBegin, Point::kBackupDelete});
  space.max_faults = 1;
  SweepPlans plans({space, space}, 1);
  for (const ExploreCase& one : plans.NextRound()) {
    const bool first = one.plan.faults[0].site.point == Point::kStepBegin;
    EXPECT_EQ(one.setup, 0u);
    plans.AddReport(first ? Fired(one, 0) : NotFired(one));
  }
  for (const ExploreCase& one : plans.NextRound())
    plans.AddReport(NotFired(one));
  const std::vector<ExploreCase> second = plans.NextRound();
  ASSERT_EQ(second.size(), 2u);  // the chief and the last worker
  EXPECT_EQ(second[0].setup, 1u);
  EXPECT_EQ(second[0].plan.faults[0].site.point, Point::kBackupDelete);
  EXPECT_EQ(second[0].plan.faults[0].site.occurrence, 1u);
}

TEST(SweepPlansTest, SingleFaultsOfAllSetupsComeBeforeThePairsOfAny) {
  PlanSpace space =
      SpaceOf({FaultKind::kCrash}, {Point::kStepBegin, Point::kBackupDelete});
  SweepPlans plans({space, space}, 1);
  for (const ExploreCase& one : plans.NextRound()) {
    const bool first = one.plan.faults[0].site.point == Point::kStepBegin;
    plans.AddReport(first ? Fired(one, 1) : NotFired(one));
  }
  for (const ExploreCase& one : plans.NextRound())
    plans.AddReport(NotFired(one));
  const std::vector<ExploreCase> second = plans.NextRound();
  EXPECT_EQ(second[0].setup, 1u);
  EXPECT_EQ(second[0].plan.faults.size(), 1u);
  EXPECT_EQ(plans.Left(),
            "single faults in 1 of 2 set-ups, and all pairs, whose number "
            "follows from them");
  for (const ExploreCase& one : second) plans.AddReport(NotFired(one));
  EXPECT_EQ(plans.NextRound()[0].setup, 0u);
  EXPECT_EQ(plans.Left(), "1 of 1 beginnings of pairs, at least 4 cases");
}

// Returns the plans that follow a round of single faults, none of which fires.
std::vector<ExploreCase> AfterSingles(SweepPlans& plans) {
  for (const ExploreCase& one : plans.NextRound())
    plans.AddReport(NotFired(one));
  return plans.NextRound();
}

TEST(SweepPlansTest, TriesTimeDependentPoints_AfterASlowWorker) {
  SweepPlans plans({SpaceOf({FaultKind::kSlow}, {Point::kHeartbeat})}, 1);
  const std::vector<ExploreCase> pairs = AfterSingles(plans);
  ASSERT_EQ(pairs.size(), 2u);
  const std::vector<Fault>& faults = pairs[0].plan.faults;
  EXPECT_EQ(faults[0].site.point, Point::kStepBegin);
  EXPECT_EQ(faults[1].site.point, Point::kHeartbeat);
  EXPECT_EQ(faults[1].site.incarnation, 1);
  EXPECT_TRUE(Validate(pairs[0].plan).ok());
}

TEST(SweepPlansTest, FaultAtARejection_FollowsDamageAndADeath) {
  PlanSpace space =
      SpaceOf({FaultKind::kCrash, FaultKind::kBitFlip}, {Point::kReject});
  space.max_faults = 3;
  SweepPlans plans({space}, 1);
  const std::vector<ExploreCase> behind = AfterSingles(plans);
  ASSERT_EQ(behind.size(), 2u);
  const std::vector<Fault>& faults = behind[0].plan.faults;
  ASSERT_EQ(faults.size(), 3u);
  EXPECT_EQ(faults[0].kind, FaultKind::kBitFlip);
  EXPECT_EQ(faults[1].kind, FaultKind::kCrash);
  EXPECT_EQ(faults[2].site.point, Point::kReject);
  EXPECT_EQ(faults[2].site.incarnation, 2);
  EXPECT_TRUE(Validate(behind[0].plan).ok());
}

}  // namespace
}  // namespace gauntlet
