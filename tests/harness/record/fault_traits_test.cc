#include "harness/record/fault_traits.h"

#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "chaos/inject/plan/plan.h"

namespace gauntlet {
namespace {

using testing::ElementsAreArray;

TEST(FaultTraitsTest, TableHasTheKindsOfTheInjectors) {
  std::vector<std::string_view> kinds;
  for (const FaultKindTraits& row : AllFaultTraits()) kinds.push_back(row.kind);
  std::vector<std::string_view> expected;
  for (const FaultKindInfo& info : AllFaultKinds()) {
    expected.push_back(info.name);
  }
  EXPECT_THAT(kinds, ElementsAreArray(expected));
}

TEST(FaultTraitsTest, Table_AgreesWithTheInjectors) {
  for (const auto& [kind, traits] : AllFaultTraits()) {
    SCOPED_TRACE(kind);
    const FaultKindInfo& info = InfoOf(FindFaultKind(kind).value());
    EXPECT_EQ(info.effects.halts,
              traits.BlocksTask() || traits.hinders == HinderedPart::kDevice);
    EXPECT_EQ(info.effects.halts && !info.effects.keeps_heartbeats,
              traits.hinders == HinderedPart::kProcess);
    EXPECT_EQ(info.effects.damages_file, traits.damages_store);
    EXPECT_EQ(info.effects.ends_process || info.kind == FaultKind::kTornWrite,
              traits.ends_incarnation);
    EXPECT_TRUE(info.effects.may_end_incarnation ||
                !traits.may_end_incarnation);
    EXPECT_TRUE(info.effects.gives_notice || !traits.gives_notice);
    EXPECT_TRUE(IsOfDevice(info.kind) || !traits.fails_device);
    const bool resets = info.kind == FaultKind::kConnectionReset;
    const bool delivers_twice = info.kind == FaultKind::kDuplicate;
    EXPECT_TRUE(!IsNetworkFault(info.kind) || resets || delivers_twice ||
                traits.lasts);
  }
}

TEST(FaultTraitsTest, UnknownKindExcusesNothing) {
  const FaultTraits traits = TraitsOf({.kind = "meteorite"});
  EXPECT_FALSE(traits.ends_incarnation || traits.may_end_incarnation ||
               traits.gives_notice || traits.reports_error ||
               traits.damages_store || traits.lasts);
}

TEST(FaultTraitsTest, TornWrite_HasTheTraitsOfItsConsequence) {
  const auto after = [](std::string_view then) {
    return TraitsOf({.kind = "torn_write", .then = std::string(then)});
  };
  EXPECT_TRUE(after("crash").ends_incarnation);
  EXPECT_FALSE(after("crash").cuts_power);
  EXPECT_TRUE(after("power_loss").cuts_power);
  EXPECT_TRUE(after("nothing").damages_store);
  EXPECT_FALSE(after("nothing").ends_incarnation);
}

TEST(FaultTraitsTest, PowerLossDamagesTheStore_IfTheDiskLies) {
  RecordFault loss = {.kind = "power_loss"};
  EXPECT_FALSE(TraitsOf(loss).damages_store);
  loss.disk = kLyingDisk;
  EXPECT_TRUE(TraitsOf(loss).damages_store);
  loss.of_one_host = true;
  EXPECT_FALSE(TraitsOf(loss).damages_store || TraitsOf(loss).cuts_power);
}

}  // namespace
}  // namespace gauntlet
