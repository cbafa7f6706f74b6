#include "harness/bench/machine_limits.h"

#include <filesystem>

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

TEST(MachineLimits, MeasuresAllAndLeavesNothing) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / "machine_limits";
  std::filesystem::create_directory(folder);
  const Result<MachineSample> sample = MeasureMachine(folder, 3'000'000);
  ASSERT_TRUE(sample.ok()) << sample.status().message();
  for (size_t i = 0; i < kMachineLimits; ++i) {
    const auto limit = static_cast<MachineLimit>(i);
    // tmpfs has no O_DIRECT before Linux 6.6.
    if (limit == MachineLimit::kDirectWrite && !(*sample)[i]) continue;
    ASSERT_TRUE((*sample)[i].has_value()) << MachineLimitName(limit);
    EXPECT_GT(*(*sample)[i], 1e5) << MachineLimitName(limit);
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  std::filesystem::remove(folder);
}

TEST(MachineLimits, MissingFolderIsNamed) {
  const std::filesystem::path none =
      std::filesystem::path(testing::TempDir()) / "no_machine_limits";
  ASSERT_FALSE(std::filesystem::exists(none));
  const Result<MachineSample> sample = MeasureMachine(none, 4096);
  ASSERT_FALSE(sample.ok());
  EXPECT_NE(sample.status().message().find(none / "limits.bin"),
            std::string::npos);
}

}  // namespace
}  // namespace gauntlet
