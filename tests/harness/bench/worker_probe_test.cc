#include "harness/bench/worker_probe.h"

#include <gtest/gtest.h>

#include <unistd.h>

namespace gauntlet {
namespace {

TEST(WorkerProbe, MeasuresThisProcess) {
  EXPECT_GT(PeakMemoryOf(getpid()), 1'000'000u);
  const double begin = CpuSecondsOf(getpid());
  volatile uint64_t sum = 0;
  while (CpuSecondsOf(getpid()) - begin < 0.02) {
    for (int i = 0; i < 100'000; ++i) sum = sum + 1;
  }
  EXPECT_GE(CpuSecondsOf(getpid()), begin + 0.02);
}

TEST(WorkerProbe, FindsNoWorkersOfThisProcess) {
  EXPECT_TRUE(WorkersOf(getpid()).empty());
}

TEST(WorkerProbe, NoProcessIsZero) {
  EXPECT_EQ(PeakMemoryOf(-1), 0u);
  EXPECT_EQ(CpuSecondsOf(-1), 0.0);
}

}  // namespace
}  // namespace gauntlet
