#include "tests/contract/world_fixture.h"

namespace gauntlet {
namespace {

TEST_P(HostContract, HasANameForPeople) {
  InWorld([](World& world) { EXPECT_NE(world.host.Name(), ""); });
}

TEST_P(HostContract, BeginsWithoutATerminationNotice) {
  InWorld([](World& world) {
    EXPECT_EQ(world.host.TerminationNotices(), 0);
    EXPECT_EQ(world.host.Interrupts(), 0);
    EXPECT_EQ(world.host.FirstNotice(), std::nullopt);
  });
}

TEST_P(HostContract, HasNoFaultsAndBugs_IfNothingIsPlanned) {
  InWorld([](World& world) {
    EXPECT_TRUE(world.faults.Hit(Point::kStepBegin, {.step = 1}).ok());
    EXPECT_FALSE(world.faults.Planted(PlantedBug::kLoseRngKey));
  });
}

}  // namespace
}  // namespace gauntlet
