#include "harness/cli/crash_test/crash_test_files.h"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/scenario/trainer_setup.h"
#include "tests/engine/real/scratch_directory.h"

namespace gauntlet {
namespace {

using testing::HasSubstr;

TEST(CrashTestFilesTest, CaseThatNoScenarioExpresses_IsInconclusive) {
  const ScratchDirectory scratch;
  Case one;
  one.name = one.scenario = "t";
  one.trainer =
      TrainerSetup{.command = {"true", "{out}"}, .faults = {{.kind = "kill"}}};
  one.seed = 7;  // a trainer has no seed
  const CaseOutcome outcome =
      RunTrainerCase(one, {.world = WorldKind::kReal,
                           .program = "none",
                           .directory = scratch.path()});
  EXPECT_EQ(outcome.result.verdict.kind, VerdictKind::kError);
  EXPECT_THAT(outcome.result.verdict.reason,
              HasSubstr("the scenario cannot say this: seed: 7"));
  EXPECT_FALSE(std::filesystem::exists(scratch / "scenario.yaml"));
  EXPECT_FALSE(std::filesystem::exists(scratch / "crash-test"));
}

}  // namespace
}  // namespace gauntlet
