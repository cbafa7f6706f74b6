#include "engine/train/launcher/restart_budget.h"

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

// The launcher asks if rejoining helps before it counts the loss.
TEST(RestartBudgetTest, ANewStepEndsWhatWasFruitlessAtOnce) {
  const LauncherOptions options = {.restart = RestartPolicy::kRejoin};
  RestartBudget budget(options);
  for (int loss = 1; loss <= 2; ++loss) {
    EXPECT_EQ(budget.Spend(), "");
    EXPECT_EQ(budget.restarts_without_progress(), loss);
  }
  budget.Reached(5);
  EXPECT_EQ(budget.restarts_without_progress(), 0);
  EXPECT_EQ(budget.Spend(), "");
  EXPECT_EQ(budget.restarts_without_progress(), 0);
  EXPECT_EQ(budget.Spend(), "");
  EXPECT_EQ(budget.restarts_without_progress(), 1)
      << "step 5 is no news any more";
}

}  // namespace
}  // namespace gauntlet
