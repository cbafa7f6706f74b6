#include "harness/cli/hooks/train_hooks.h"

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

TEST(TrainHooksTest, HasAllParts) {
  const TrainHooks hooks = HarnessTrainHooks();
  EXPECT_TRUE(hooks.launcher_faults && hooks.worker_faults);
  EXPECT_TRUE(hooks.launcher_trace && hooks.worker_trace);
}

}  // namespace
}  // namespace gauntlet
