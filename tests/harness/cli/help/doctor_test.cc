#include "harness/cli/help/doctor.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gauntlet {
namespace {

using ::testing::HasSubstr;

TEST(DoctorTest, StatesTheCostOfEachFinding) {
  const std::vector<Probe> probes = {
      {"cpu", Health::kGood, "8 cores, fma", ""},
      {"gpu", Health::kMissing, "none", "gpu scenarios are skipped"}};
  const TerminalStyle plain(ColorChoice::kOff, TerminalFacts());
  EXPECT_EQ(RenderProbes(probes, plain),
            "cpu       good     8 cores, fma\n"
            "gpu       missing  none -> gpu scenarios are skipped\n");
  const TerminalStyle colored(ColorChoice::kOn, TerminalFacts());
  EXPECT_THAT(RenderProbes(probes, colored),
              HasSubstr("cpu       \x1b[32mgood   \x1b[0m  8 cores"));
}

TEST(DoctorTest, JsonHasAllFields) {
  const std::string json = ProbesToJson({{"x", Health::kBroken, "\"y\"", "z"}});
  EXPECT_THAT(json, HasSubstr(R"("name": "x")"));
  EXPECT_THAT(json, HasSubstr(R"("health": "broken")"));
  EXPECT_THAT(json, HasSubstr(R"("found": "\"y\"")"));
}

// A machine that runs this test also runs the engine's own tests.
TEST(DoctorTest, ThisMachineMeetsTheTestsNeeds) {
  for (const Probe& probe : {ProbeCpu(), ProbeDisk(), ProbeLoopback()}) {
    EXPECT_NE(probe.health, Health::kBroken) << probe.name << probe.found;
    EXPECT_NE(probe.found, "");
  }
}

}  // namespace
}  // namespace gauntlet
