#include "harness/run/executor/launch_sequence.h"

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

constexpr LauncherEnd kExited = LauncherEnd::kExited;
constexpr LauncherEnd kKilled = LauncherEnd::kKilled;

LauncherRun Ended(int exit_code, uint64_t steps = 0) {
  LauncherRun run = {.exit_code = exit_code};
  if (steps > 0) run.result = FinalResult{.steps = steps};
  return run;
}

// Returns a plan of three launches: the job, another job, and the job again.
RunPlan ThreeLaunches() {
  RunPlan plan;
  plan.launches = {{}, {.other_job = true}, {}};
  plan.max_requeues = 2;
  return plan;
}

TEST(LaunchSequenceTest, EndsAfterAFinishedLaunch_IfNoneIsPlanned) {
  RunPlan plan;
  plan.max_requeues = 1;
  LaunchSequence launches(plan);
  EXPECT_TRUE(launches.StartNextLaunch(Ended(143, 5), kExited));
  EXPECT_FALSE(launches.StartNextLaunch(Ended(143, 5), kExited))
      << "no requeue is left";
  EXPECT_FALSE(LaunchSequence(plan).StartNextLaunch(Ended(0, 9), kExited));
}

TEST(LaunchSequenceTest,
     ContinuesToTheNextLaunch_WhenOneIsDoneStoppedOrRefused) {
  const RunPlan plan = ThreeLaunches();
  LaunchSequence launches(plan);
  EXPECT_TRUE(launches.StartNextLaunch(Ended(143, 5), kExited));
  EXPECT_EQ(launches.planned(), 1u);
  EXPECT_TRUE(launches.other_job());
  EXPECT_TRUE(launches.StartNextLaunch(Ended(8), kExited));
  EXPECT_EQ(launches.planned(), 2u);
  EXPECT_FALSE(launches.StartNextLaunch(Ended(0, 9), kExited));
}

TEST(LaunchSequenceTest, RepeatsALaunchThatLeftNoCheckpoint) {
  const RunPlan plan = ThreeLaunches();
  for (const auto& [run, end] :
       {std::pair(Ended(75), kExited), std::pair(Ended(143), kExited),
        std::pair(Ended(137), kKilled)}) {
    LaunchSequence launches(plan);
    EXPECT_TRUE(launches.StartNextLaunch(run, end)) << run.exit_code;
    EXPECT_EQ(launches.planned(), 0u) << run.exit_code;
  }
}

TEST(LaunchSequenceTest, EndsWithARefusalOfTheJobItself) {
  const RunPlan plan = ThreeLaunches();
  for (const int code : {1, 2, 7, 8, 9}) {
    EXPECT_FALSE(LaunchSequence(plan).StartNextLaunch(Ended(code), kExited))
        << code;
  }
}

}  // namespace
}  // namespace gauntlet
