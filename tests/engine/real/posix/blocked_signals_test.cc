#include "engine/real/posix/blocked_signals.h"

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

bool IsBlocked(int signal) {
  sigset_t now = {};
  pthread_sigmask(SIG_SETMASK, nullptr, &now);
  return sigismember(&now, signal) == 1;
}

TEST(BlockedSignalsTest, BlocksOneSignalOrAll_UntilItGoesOutOfScope) {
  {
    const BlockedSignals interrupt(SIGINT);
    EXPECT_TRUE(IsBlocked(SIGINT));
    EXPECT_FALSE(IsBlocked(SIGTERM));
    {
      const BlockedSignals all;
      EXPECT_TRUE(IsBlocked(SIGTERM));
    }
    EXPECT_FALSE(IsBlocked(SIGTERM));
    EXPECT_TRUE(IsBlocked(SIGINT));
  }
  EXPECT_FALSE(IsBlocked(SIGINT));
}

}  // namespace
}  // namespace gauntlet
