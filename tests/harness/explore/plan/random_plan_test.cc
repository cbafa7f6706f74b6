#include "harness/explore/plan/random_plan.h"

#include <algorithm>
#include <memory>
#include <set>

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

PlanSpace WholeSpace() {
  PlanSpace space = {.workers = 4,
                     .steps = 24,
                     .epochs = 4,
                     .max_faults = 3,
                     .kinds = {},
                     .points = {}};
  for (const FaultKindInfo& info : AllFaultKinds()) {
    space.kinds.push_back(info.kind);
  }
  for (const PointInfo& info : AllPoints()) space.points.push_back(info.point);
  return space;
}

TEST(RandomPlanTest, EveryPlanIsValid) {
  PlanSpace space = WholeSpace();
  for (uint64_t number = 0; number < 5000; ++number) {
    space.hosts = number % 2 == 0 ? HostsChoice::kOne : HostsChoice::kSeparate;
    const FaultPlan plan = RandomPlan(space, 7, number);
    const Status status = Validate(plan);
    ASSERT_TRUE(status.ok()) << number << ": " << status.message();
    ASSERT_GE(plan.faults.size(), 1u);
    ASSERT_LE(plan.faults.size(), 3u);
  }
}

TEST(RandomPlanTest, PlanIsAFunctionOfSeedAndNumber) {
  const PlanSpace space = WholeSpace();
  EXPECT_EQ(RandomPlan(space, 7, 11), RandomPlan(space, 7, 11));
  EXPECT_FALSE(RandomPlan(space, 7, 11) == RandomPlan(space, 7, 12));
  EXPECT_FALSE(RandomPlan(space, 7, 11) == RandomPlan(space, 8, 11));
  EXPECT_EQ(RandomSetup(5, 7, 11), RandomSetup(5, 7, 11));
}

TEST(RandomPlanTest, WithoutFaultsOnlyTheSeedIsDrawn) {
  PlanSpace space = WholeSpace();
  space.max_faults = 0;
  const FaultPlan plan = RandomPlan(space, 7, 11);
  EXPECT_TRUE(plan.faults.empty());
  EXPECT_NE(plan.seed, RandomPlan(space, 7, 12).seed);
}

TEST(RandomPlanTest, FurtherFaults_DoNotChangeTheFirstOne) {
  PlanSpace space = WholeSpace();
  for (uint64_t number = 0; number < 200; ++number) {
    space.max_faults = 1;
    const Fault alone = RandomPlan(space, 3, number).faults.front();
    space.max_faults = 5;
    EXPECT_EQ(RandomPlan(space, 3, number).faults.front(), alone) << number;
  }
}

TEST(RandomPlanTest, EveryKindPointAndSetupComesUp) {
  const PlanSpace space = WholeSpace();
  std::set<FaultKind> kinds;
  std::set<Point> points;
  std::set<size_t> setups;
  std::set<bool> chained;
  for (uint64_t number = 0; number < 5000; ++number) {
    setups.insert(RandomSetup(6, 1, number));
    for (const Fault& fault : RandomPlan(space, 1, number).faults) {
      kinds.insert(fault.kind);
      points.insert(fault.site.point);
      chained.insert(!fault.after.empty());
    }
  }
  EXPECT_EQ(kinds.size(), AllFaultKinds().size());
  EXPECT_EQ(points.size(), AllPoints().size());
  EXPECT_EQ(setups.size(), 6u);
  EXPECT_EQ(chained.size(), 2u);
}

TEST(RandomPlanTest, SomePlansHaveOnlyEndlessHangs) {
  PlanSpace space = WholeSpace();
  space.kinds = {FaultKind::kHang, FaultKind::kPause};
  uint64_t two_for_ever = 0;
  for (uint64_t number = 0; number < 1000; ++number) {
    const std::vector<Fault> faults = RandomPlan(space, 2, number).faults;
    const auto count = std::ranges::count_if(faults, [](const Fault& fault) {
      return fault.with.duration == Duration{0};
    });
    if (count == 2) ++two_for_ever;
  }
  EXPECT_GT(two_for_ever, 10u);
}

uint64_t StalledChiefs(const PlanSpace& space) {
  uint64_t stalled = 0;
  for (uint64_t number = 0; number < 400; ++number) {
    const std::vector<Fault> faults = RandomPlan(space, 1, number).faults;
    if (faults.size() >= 2 && faults[0].kind == FaultKind::kPartition &&
        faults[1].kind == FaultKind::kHang &&
        faults[0].site == faults[1].site) {
      ++stalled;
    }
  }
  return stalled;
}

TEST(RandomPlanTest, OnSeparateHostsChiefsAreCutOffAndPaused) {
  PlanSpace space = WholeSpace();
  EXPECT_EQ(StalledChiefs(space), 0u);
  space.hosts = HostsChoice::kSeparate;
  EXPECT_GT(StalledChiefs(space), 100u);
  space.kinds = {FaultKind::kCrash};
  EXPECT_EQ(StalledChiefs(space), 0u) << "no such kinds";
}

TEST(RandomPlanTest, LoadsOftenReadDamagedFiles) {
  PlanSpace space = WholeSpace();
  std::erase_if(space.kinds, IsOfDevice);
  uint64_t rejections = 0;
  uint64_t load_errors = 0;
  for (uint64_t number = 0; number < 5000; ++number) {
    for (const Fault& fault : RandomPlan(space, 1, number).faults) {
      const Point point = fault.site.point;
      rejections += point == Point::kReject ? 1 : 0;
      load_errors +=
          point == Point::kLoadRead && fault.kind == FaultKind::kErrno ? 1 : 0;
    }
  }
  EXPECT_GT(rejections, 300u);
  EXPECT_GT(load_errors, 70u);
}

// Returns the reach of a run in which workers 0 and 1 train two steps, and
// worker 1 saves in step 2.
std::shared_ptr<const Reach> SmallReach() {
  auto reach = std::make_shared<Reach>();
  for (const int worker : {0, 1}) {
    for (const uint64_t step : {1, 2}) {
      reach->Add(worker, Point::kStepBegin, {.step = step});
    }
  }
  reach->Add(1, Point::kShardWrite, {.step = 2, .begins_file = true});
  reach->Add(1, Point::kShardWrite, {.step = 2});
  return reach;
}

// Returns the number of times that the worker passes the site in a run without
// faults.
uint64_t Hits(const Reach& reach, int worker, const FaultSite& site) {
  return static_cast<uint64_t>(std::ranges::count_if(
      reach.Of(worker, site.point), [&site](const Occurrence& one) {
        return (!site.step || *site.step == one.step) &&
               (!site.epoch || *site.epoch == one.epoch) &&
               (!site.offset || one.begins_file);
      }));
}

TEST(RandomPlanTest, FirstFaultIsAtAReachablePoint) {
  PlanSpace space = WholeSpace();
  space.reach = SmallReach();
  std::set<Point> points;
  for (uint64_t number = 0; number < 2000; ++number) {
    const FaultPlan plan = RandomPlan(space, 1, number);
    ASSERT_TRUE(Validate(plan).ok()) << number;
    const FaultSite& site = plan.faults.front().site;
    points.insert(site.point);
    EXPECT_TRUE(site.incarnation == 1 || site.incarnation == kAnyIncarnation)
        << number;
    const bool any = site.worker == kAnyWorker || site.worker == kAllWorkers;
    uint64_t hits = 0;
    for (const int worker : {0, 1}) {
      const bool is_meant = any || site.worker == worker ||
                            (site.worker == kChief && worker == 0);
      if (is_meant) hits = std::max(hits, Hits(*space.reach, worker, site));
    }
    EXPECT_GE(hits, site.occurrence) << number << ": " << PointName(site.point);
  }
  EXPECT_EQ(points, (std::set{Point::kStepBegin, Point::kShardWrite}));
}

TEST(RandomPlanTest, NarrowedSpaceIsKeptTo) {
  PlanSpace space = WholeSpace();
  space.kinds = {FaultKind::kCrash};
  space.points = {Point::kRename, Point::kRenamed};
  space.max_faults = 1;
  for (uint64_t number = 0; number < 200; ++number) {
    const Fault fault = RandomPlan(space, 1, number).faults.front();
    EXPECT_EQ(fault.kind, FaultKind::kCrash);
    EXPECT_TRUE(fault.site.point == Point::kRename ||
                fault.site.point == Point::kRenamed);
  }
}

}  // namespace
}  // namespace gauntlet
