#include "engine/train/launcher/restart_budget.h"

#include <chrono>

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// The launcher checks whether rejoining helps before it counts the loss.
TEST(RestartBudgetTest, NewStepResetsRestartsWithoutProgress) {
  const LauncherOptions options = {.restart = RestartPolicy::kRejoin};
  RestartBudget budget(options);
  for (int loss = 1; loss <= 2; ++loss) {
    EXPECT_EQ(budget.Spend(Time{}), "");
    EXPECT_EQ(budget.restarts_without_progress(), loss);
  }
  budget.RecordStep(5);
  EXPECT_EQ(budget.restarts_without_progress(), 0);
  EXPECT_EQ(budget.Spend(Time{}), "");
  EXPECT_EQ(budget.restarts_without_progress(), 0);
  EXPECT_EQ(budget.Spend(Time{}), "");
  EXPECT_EQ(budget.restarts_without_progress(), 1)
      << "step 5 is no news any more";
}

// Kills at random times, as in a benchmark, often precede the next new step.
TEST(RestartBudgetTest, PauseGrowsOnlyWithLossesInQuickSuccession) {
  const LauncherOptions options = {.backoff = milliseconds(100),
                                   .max_backoff = milliseconds(500)};
  RestartBudget budget(options);
  Time now{seconds(60)};
  const auto pause_after = [&](Duration since_restart) {
    now += budget.pause() + since_restart;
    EXPECT_EQ(budget.Spend(now), "");
    return budget.pause();
  };
  EXPECT_EQ(pause_after(seconds(9)), milliseconds(100));
  EXPECT_EQ(pause_after(milliseconds(200)), milliseconds(200));
  EXPECT_EQ(pause_after(milliseconds(10)), milliseconds(400));
  EXPECT_EQ(pause_after(milliseconds(10)), milliseconds(500));
  EXPECT_EQ(pause_after(milliseconds(501)), milliseconds(100));
}

}  // namespace
}  // namespace gauntlet
