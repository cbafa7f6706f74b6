#include "engine/train/launcher/attempt_state.h"

#include <set>
#include <utility>

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

TEST(AttemptStateTest, PermitsTheseTransitionsAndNoOthers) {
  using enum AttemptState;
  const std::set<std::pair<AttemptState, AttemptState>> permitted = {
      {kStarting, kRunning},
      {kStarting, kEnding},
      {kRunning, kEnding},
      {kRunning, kEnded},
      {kEnding, kEnded}};
  for (const AttemptState from : {kStarting, kRunning, kEnding, kEnded}) {
    for (const AttemptState to : {kStarting, kRunning, kEnding, kEnded}) {
      EXPECT_EQ(MayFollow(from, to), permitted.contains({from, to}))
          << static_cast<int>(from) << " to " << static_cast<int>(to);
    }
  }
}

}  // namespace
}  // namespace gauntlet
