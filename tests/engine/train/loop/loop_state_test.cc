#include "engine/train/loop/loop_state.h"

#include <set>
#include <utility>

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

TEST(LoopStateTest, PermitsTheseTransitionsAndNoOthers) {
  using enum LoopState;
  const std::set<std::pair<LoopState, LoopState>> permitted = {
      {kNew, kTraining},        {kTraining, kFinishing},
      {kTraining, kStopping},   {kTraining, kNotFinite},
      {kFinishing, kNotFinite}, {kStopping, kNotFinite}};
  const auto all = {kNew, kTraining, kFinishing, kStopping, kNotFinite};
  for (const LoopState from : all) {
    for (const LoopState to : all) {
      EXPECT_EQ(MayFollow(from, to), permitted.contains({from, to}))
          << static_cast<int>(from) << " to " << static_cast<int>(to);
    }
  }
}

}  // namespace
}  // namespace gauntlet
