#include "harness/bench/figures/checkpoint_result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/bench/figures/bench_limit.h"

namespace gauntlet {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr double kMiB = 1024.0 * 1024.0;

TEST(MemoryAdded, IsTheDifferenceFromTheLeastPeakWithoutSaves) {
  EXPECT_THAT(MemoryAdded({64 * kMiB, 66 * kMiB}, {70 * kMiB, 62 * kMiB}),
              ElementsAre(2 * kMiB, 4 * kMiB));
}

TEST(MemoryAdded, IsNeverBelowZero) {
  EXPECT_THAT(MemoryAdded({61 * kMiB, 63 * kMiB}, {62 * kMiB}),
              ElementsAre(0, 1 * kMiB));
}

TEST(MemoryAdded, IsNotMeasuredWithoutARunWithoutSaves) {
  EXPECT_THAT(MemoryAdded({64 * kMiB}, {}), IsEmpty());
}

// Measured peaks of four workers with a state of 100 kB. The peaks of the runs
// without saves differ by up to 9 MiB.
TEST(MemoryAdded, KeepsNoLimitByTheExcessOfRunsWithoutSaves) {
  CheckpointFigures figures = {.config = {.mode = SaveMode::kSync}};
  figures.of(Metric::kMemoryAdded) =
      MemoryAdded({63172. * 1024, 63384. * 1024, 63220. * 1024, 63504. * 1024,
                   63380. * 1024, 63380. * 1024},
                  {63792. * 1024, 71096. * 1024, 63248. * 1024, 63192. * 1024,
                   71348. * 1024, 62268. * 1024});
  CheckpointResult result;
  result.figures = {figures};
  const auto broken = [&result](std::string_view text) {
    return BrokenLimits(result, {*ParseBenchLimit(text)}, nullptr);
  };
  EXPECT_THAT(broken("memory_added<=1MB"), SizeIs(1));
  EXPECT_THAT(broken("memory_added<=2MB"), IsEmpty());
}

}  // namespace
}  // namespace gauntlet
