// Whole runs on disks of every profile.
#include <gtest/gtest.h>

#include "harness/explore/trial/plan_runner.h"
#include "tests/harness/run/small_cases.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

std::string Describe(const PlanRun& run) {
  std::string text = run.verdict.reason;
  for (const Finding& finding : run.findings) {
    text += fmt::format("\n  {}: {}", finding.invariant, finding.message);
  }
  return text;
}

class EveryDisk : public testing::TestWithParam<DurabilityProfile> {
 protected:
  PlanRunner Make() {
    static References references("", "test");
    Case one = SaveCase(3);
    one.disk = GetParam();
    return PlanRunner::Make(std::move(one), references).value();
  }
};
INSTANTIATE_TEST_SUITE_P(Disks, EveryDisk,
                         testing::Values(DurabilityProfile::kExt4,
                                         DurabilityProfile::kWeak,
                                         DurabilityProfile::kLyingFsync,
                                         DurabilityProfile::kShared),
                         [](const auto& disk) {
                           std::string name(ProfileName(disk.param));
                           std::erase(name, '-');
                           return name;
                         });

TEST_P(EveryDisk, RunCompletes) {
  PlanRunner runner = Make();
  const PlanRun run = runner.Try({});
  EXPECT_TRUE(run.findings.empty()) << Describe(run);
}

TEST_P(EveryDisk, CrashIsRecoveredFrom) {
  PlanRunner runner = Make();
  for (const uint64_t step : {2, 5, 8}) {
    const PlanRun run =
        runner.Try({.faults = {{.id = "crash",
                                .site = {.worker = 1,
                                         .step = step,
                                         .point = Point::kStepBegin}}}});
    EXPECT_TRUE(run.findings.empty()) << step << Describe(run);
  }
}

// On a disk that lies about syncs, an older state, a refusal or a start from
// scratch is correct after a power loss.
TEST_P(EveryDisk, PowerLossKeepsSyncedData) {
  PlanRunner runner = Make();
  for (const Point point :
       {Point::kShardSync, Point::kRename, Point::kRenamed,
        Point::kSaveAcknowledged, Point::kStateRename, Point::kRetireRemove}) {
    for (uint64_t seed = 1; seed <= 5; ++seed) {
      const PlanRun run = runner.Try(
          {.seed = seed,
           .faults = {{.id = "cut",
                       .site = {.worker = 0, .point = point, .occurrence = 2},
                       .kind = FaultKind::kPowerLoss}}});
      EXPECT_TRUE(run.findings.empty())
          << PointName(point) << " seed " << seed << Describe(run);
    }
  }
}

}  // namespace
}  // namespace gauntlet
