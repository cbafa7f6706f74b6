#include "harness/explore/diagnosis/shrink.h"

#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "chaos/inject/plan/fault_parameters.h"
#include "engine/real/posix/system_clock.h"
#include "harness/explore/diagnosis/canonical_sites.h"
#include "harness/explore/diagnosis/shrink_setup.h"
#include "harness/run/reference.h"
#include "tests/harness/run/small_cases.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using testing::ElementsAre;

// Allows as many tries as needed: nothing depends on the machine.
const ShrinkOptions kPatient = {.max_tries = 100000, .budget = hours(1)};

FaultPlan PlanOf(std::vector<std::string> ids) {
  FaultPlan plan;
  for (std::string& id : ids) plan.faults.push_back({.id = std::move(id)});
  return plan;
}

bool Has(const FaultPlan& plan, std::string_view id) {
  for (const Fault& fault : plan.faults) {
    if (fault.id == id) return true;
  }
  return false;
}

std::vector<std::string> IdsOf(const FaultPlan& plan) {
  std::vector<std::string> ids;
  for (const Fault& fault : plan.faults) ids.push_back(fault.id);
  return ids;
}

TEST(ShrinkPlanTest, KeepsOnlyTheNecessaryFaults) {
  const FaultPlan plan = PlanOf({"a", "b", "c", "d", "e", "f", "g", "h"});
  const ShrunkPlan shrunk = ShrinkPlan(plan, kPatient, [](const auto& one) {
    return Has(one, "b") && Has(one, "g");
  });
  EXPECT_THAT(IdsOf(shrunk.plan), ElementsAre("b", "g"));
  EXPECT_TRUE(shrunk.finished);
}

// Returns true iff the plan damages and crashes one incarnation: the first one,
// or, with another fault before these two, the second one.
bool IsDamagedThenDies(const FaultPlan& plan) {
  const std::vector<Fault>& faults = plan.faults;
  return faults.size() >= 2 && Has(plan, "damage") && Has(plan, "death") &&
         faults[faults.size() - 2].site.incarnation ==
             faults.back().site.incarnation &&
         faults.back().site.incarnation == static_cast<int>(faults.size()) - 1;
}

TEST(ShrinkPlanTest, MovesFaultsToAnEarlierIncarnation_WithoutItsDeath) {
  FaultPlan plan = PlanOf({"first", "damage", "death"});
  plan.faults[1].kind = FaultKind::kBitFlip;
  plan.faults[1].site.incarnation = plan.faults[2].site.incarnation = 2;
  const ShrunkPlan shrunk = ShrinkPlan(plan, kPatient, IsDamagedThenDies);
  EXPECT_THAT(IdsOf(shrunk.plan), ElementsAre("damage", "death"));
  EXPECT_EQ(shrunk.plan.faults[0].site.incarnation, 1);
}

TEST(ShrinkPlanTest, TriesNoFaultsFirst) {
  const ShrunkPlan shrunk = ShrinkPlan(PlanOf({"a", "b"}), kPatient,
                                       [](const auto&) { return true; });
  EXPECT_THAT(shrunk.plan.faults, testing::IsEmpty());
  EXPECT_EQ(shrunk.tries, 1);
}

// Fault c follows b, and b follows a. Once b is removed, c follows a.
TEST(ShrinkPlanTest, LinksAroundAFaultThatIsTakenOut) {
  FaultPlan plan = PlanOf({"a", "b", "c"});
  plan.faults[1].after = "a";
  plan.faults[2].after = "b";
  const ShrunkPlan shrunk = ShrinkPlan(plan, kPatient, [](const auto& one) {
    return Has(one, "a") && Has(one, "c") && one.faults.back().after != "";
  });
  EXPECT_THAT(IdsOf(shrunk.plan), ElementsAre("a", "c"));
  EXPECT_EQ(shrunk.plan.faults[1].after, "a");
}

// Fault a is no longer needed: it led to the old site of fault b.
TEST(ShrinkPlanTest, FaultOfADeviceIsMovedToAStep) {
  FaultPlan plan = PlanOf({"a", "b"});
  plan.faults[1] = {
      .id = "b",
      .site = {.worker = 2, .incarnation = 2, .point = Point::kReject},
      .kind = FaultKind::kOutOfMemory,
      .after = "a"};
  const ShrunkPlan shrunk = ShrinkPlan(plan, kPatient, [](const auto& one) {
    return Has(one, "b") && IsOfDevice(one.faults.back().kind) &&
           (one.faults.back().after.empty() || Has(one, "a"));
  });
  const Fault plain = {.id = "b",
                       .site = {.worker = 0, .point = Point::kStepBegin},
                       .kind = FaultKind::kGpuError};
  EXPECT_THAT(shrunk.plan.faults, ElementsAre(plain));
}

TEST(ShrinkPlanTest, FaultIsMadeAsPlainAsItCanBe) {
  FaultPlan plan = PlanOf({"a"});
  plan.seed = 12345;
  plan.bugs = {PlantedBug::kLoseMetrics};
  plan.faults[0].kind = FaultKind::kPowerLoss;
  plan.faults[0].site = {.worker = kAnyWorker,
                         .incarnation = kAnyIncarnation,
                         .step = 17,
                         .epoch = 2,
                         .point = Point::kRename,
                         .occurrence = 9};
  plan.faults[0].with.times = FaultTimes::kAlways;
  plan.faults[0].with.until_step = 40;
  const ShrunkPlan shrunk = ShrinkPlan(plan, kPatient, [](const auto& one) {
    return one.faults.size() == 1 &&
           one.faults[0].site.point == Point::kRename &&
           one.faults[0].site.occurrence >= 3;
  });
  const FaultPlan plainest = {
      .seed = 0,
      .faults = {
          {.id = "a",
           .site = {.worker = 0, .point = Point::kRename, .occurrence = 3}}}};
  EXPECT_EQ(PlanToJson(shrunk.plan), PlanToJson(plainest));
}

TEST(ShrinkPlanTest, KeepsTheDecisiveParts) {
  FaultPlan plan = PlanOf({"a"});
  plan.faults[0] = {
      .id = "a",
      .site = {.worker = 2,
               .step = 17,
               .point = Point::kShardWrite,
               .offset = FileOffset{77, OffsetUnit::kBytes}},
      .kind = FaultKind::kTornWrite,
      .with = {.blocks = 16, .keep = 0b1010, .then = AfterTear::kNothing}};
  const FaultPlan same = plan;
  const ShrunkPlan shrunk =
      ShrinkPlan(plan, kPatient, [&](const auto& one) { return one == same; });
  EXPECT_EQ(shrunk.plan, same);
  EXPECT_TRUE(shrunk.finished);
}

// Returns parameters of the kind, none of which has its default value.
FaultParameters NonDefaultParameters(FaultKind kind) {
  FaultParameters with;
  for (const FaultParameterInfo& parameter : ParametersOf(kind)) {
    std::visit(
        OnPlace{
            [&](Duration FaultParameters::*at) { with.*at = seconds(2); },
            [&](std::optional<Duration> FaultParameters::*at) {
              with.*at = seconds(2);
            },
            [&](FileOffset FaultParameters::*at) { with.*at = {.value = 7}; },
            [&](const BytesPlace& place) { with.*place.bytes = 7; },
            [&](const ChoicePlace& place) { place.set(1, with); },
            [&](const BlocksPlace& place) { with.*place.mask = 6; },
            [&](const GroupsPlace& place) {
              with.*place.groups = {{0}, {1}};
            },
            [&](int FaultParameters::*at) {
              with.*at = static_cast<int>(parameter.high);
            },
            [&](uint64_t FaultParameters::*at) { with.*at = parameter.high; }},
        parameter.place);
  }
  return with;
}

TEST(ShrinkPlanTest, ResetsEachParameterButTheOneThatMatters) {
  for (const FaultKindInfo& info : AllFaultKinds()) {
    for (const FaultParameterInfo& matters : ParametersOf(info.kind)) {
      SCOPED_TRACE(fmt::format("{} {}", info.name, matters.name));
      FaultPlan plan = PlanOf({"a"});
      plan.faults[0].kind = info.kind;
      const FaultParameters with = NonDefaultParameters(info.kind);
      plan.faults[0].with = with;
      ASSERT_EQ(Validate(plan).ToString(), "OK");
      ASSERT_FALSE(IsDefault(matters, with));
      FaultParameters rest;
      CopyParameter(matters, with, rest);
      // A delay without latency has no effect.
      if (info.kind == FaultKind::kDelay) rest.latency = with.latency;
      const ShrunkPlan shrunk =
          ShrinkPlan(plan, kPatient, [&](const auto& one) {
            if (one.faults.size() != 1 || one.faults[0].kind != info.kind) {
              return false;
            }
            FaultParameters same = one.faults[0].with;
            CopyParameter(matters, with, same);
            return same == one.faults[0].with;
          });
      ASSERT_EQ(shrunk.plan.faults.size(), 1u);
      EXPECT_EQ(shrunk.plan.faults[0].with, rest) << PlanToJson(shrunk.plan);
    }
  }
}

TEST(ShrinkPlanTest, AsksAboutNoPlanTwiceAndAboutValidOnesOnly) {
  FaultPlan plan = PlanOf({"a", "b", "c", "d"});
  for (Fault& fault : plan.faults) {
    fault.kind = FaultKind::kTornWrite;
    fault.with.blocks = 3;
    fault.with.keep = 5;
    fault.site.occurrence = 6;
  }
  std::set<std::string> asked = {PlanToJson(plan)};
  const ShrunkPlan shrunk = ShrinkPlan(plan, kPatient, [&](const auto& one) {
    EXPECT_TRUE(Validate(one).ok());
    EXPECT_TRUE(asked.insert(PlanToJson(one)).second) << PlanToJson(one);
    return one.faults.size() >= 2 && one.faults[0].site.occurrence % 2 == 0;
  });
  EXPECT_EQ(shrunk.tries + 1, static_cast<int>(asked.size()));
}

TEST(ShrinkPlanTest, StopsAtTheLimitOfTriesWithTheBestSoFar) {
  const FaultPlan plan = PlanOf({"a", "b", "c", "d"});
  const ShrunkPlan shrunk =
      ShrinkPlan(plan, {.max_tries = 2, .budget = hours(1)},
                 [](const auto& one) { return Has(one, "b"); });
  EXPECT_EQ(shrunk.tries, 2);
  EXPECT_FALSE(shrunk.finished);
  EXPECT_TRUE(Has(shrunk.plan, "b"));
}

TEST(ShrinkPlanTest, StopsOnRequestWithTheBestSoFar) {
  ShrinkOptions options = kPatient;
  int asked = 0;
  options.stop = [&asked] { return ++asked > 3; };
  const ShrunkPlan shrunk =
      ShrinkPlan(PlanOf({"a", "b", "c", "d"}), options,
                 [](const auto& one) { return Has(one, "a"); });
  EXPECT_FALSE(shrunk.finished);
  EXPECT_EQ(shrunk.tries, 3);
  EXPECT_TRUE(Has(shrunk.plan, "a"));
}

TEST(ShrinkPlanTest, WithoutTimeItTriesNothing) {
  const SystemClock clock;
  const ShrunkPlan shrunk =
      ShrinkPlan(PlanOf({"a"}), {.budget = seconds(0), .clock = &clock},
                 [](const auto&) -> bool {
                   ADD_FAILURE();
                   return true;
                 });
  EXPECT_FALSE(shrunk.finished);
  EXPECT_EQ(shrunk.plan, PlanOf({"a"}));
}

Case PlantedCase() {
  return SmallCase(
      "planted_bugs: lose-rng-key\nexpect: {outcome: completes}\n");
}

// Three faults around a restore that loses the RNG key. Any crash after a save
// shows the bug.
TEST(ShrinkTest, FindsTheOneCrashBehindAPlantedBug) {
  References references("", "test");
  PlanRunner runner = PlanRunner::Make(PlantedCase(), references).value();
  const FaultPlan plan = {
      .seed = 99,
      .faults = {{.id = "slow",
                  .site = {.worker = 1, .point = Point::kLoadBegin},
                  .kind = FaultKind::kSlow,
                  .with = {.latency = std::chrono::milliseconds(7)}},
                 {.id = "dark",
                  .site = {.worker = kChief, .step = 6},
                  .kind = FaultKind::kPowerLoss},
                 {.id = "error",
                  .site = {.worker = 1, .point = Point::kShardSync},
                  .kind = FaultKind::kErrno,
                  .after = "dark"}}};
  const PlanRun run = runner.Try(plan);
  ASSERT_EQ(ViolationOf(run), (Violation{"trajectory", "state-digest"}))
      << (run.findings.empty() ? "it passed" : run.findings[0].name);
  const Shrunk shrunk = Shrink(runner, plan, run, kPatient);
  EXPECT_TRUE(shrunk.finished);
  EXPECT_TRUE(Breaks(shrunk.run, *ViolationOf(run)));
  ASSERT_EQ(shrunk.plan.faults.size(), 1u) << PlanToJson(shrunk.plan);
  EXPECT_EQ(shrunk.plan.faults[0].kind, FaultKind::kCrash);
  EXPECT_EQ(shrunk.plan.faults[0].site.worker, 0);
  EXPECT_EQ(shrunk.plan.seed, 0u);
  const Shrunk again = Shrink(runner, plan, run, kPatient);
  EXPECT_EQ(PlanToJson(again.plan), PlanToJson(shrunk.plan));
  EXPECT_EQ(again.tries, shrunk.tries);
}

// The crash is in step 5 of 12, after the save of step 4.
TEST(ShrinkSetupTest, FewerWorkersAndStepsBreakTheSame) {
  References references("", "test");
  const Case setup = PlantedCase();
  const FaultPlan plan = {
      .faults = {{.id = "crash", .site = {.worker = 0, .step = 5}}}};
  PlanRunner runner = PlanRunner::Make(setup, references).value();
  const PlanRun run = runner.Try(plan);
  ASSERT_TRUE(ViolationOf(run));
  ShrinkOptions options = kPatient;
  options.violation = ViolationOf(run);
  const ShrunkSetup shrunk = ShrinkSetup(setup, plan, references, options);
  EXPECT_EQ(shrunk.setup.cluster.workers, 1);
  EXPECT_EQ(shrunk.setup.train.horizon.epochs, 1u);
  EXPECT_EQ(shrunk.setup.train.horizon.max_steps, 5u);
  ASSERT_TRUE(shrunk.run);
  EXPECT_TRUE(Breaks(*shrunk.run, *options.violation));
  EXPECT_LT(shrunk.tries, 12);
}

TEST(CanonicalSitesTest, FaultMoves_OnlyIfTheViolationStays) {
  FaultPlan plan = PlanOf({"a"});
  plan.faults[0].site = {
      .worker = 2, .incarnation = 2, .point = Point::kRename};
  const Fault plain = {.id = "b", .site = {.worker = 0, .step = 6}};
  const auto move = [&](bool here) {
    return MoveToCanonicalSites(plan, {plain}, kPatient,
                                [&](const FaultPlan& one) {
                                  return here && !one.faults.empty() &&
                                         one.faults[0].site.step >= 6;
                                })
        .plan;
  };
  EXPECT_EQ(move(false), plan);
  const Fault moved = move(true).faults.at(0);
  EXPECT_EQ(moved.id, "a");
  EXPECT_EQ(moved.site.point, Point::kStepBegin);
}

}  // namespace
}  // namespace gauntlet
