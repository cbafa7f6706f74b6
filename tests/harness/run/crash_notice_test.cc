#include "harness/run/crash_notice.h"

#include <csignal>
#include <cstdlib>
#include <thread>

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

void CrashInTheSecondOfTwo() {
  InstallCrashNotice();
  const AtWork outer("case 6");
  { const AtWork inner("case 5"); }
  std::thread([] {
    const AtWork at("case 7: gauntlet explore --case 7");
    std::abort();
  }).join();
}

// Crashes by SIGABRT, which sanitizers do not handle.
TEST(CrashNoticeDeathTest, PrintsTheWorkOfTheThread) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(CrashInTheSecondOfTwo(), testing::KilledBySignal(SIGABRT),
              "^gauntlet: crashed \\(SIGABRT\\) in case 7: gauntlet explore "
              "--case 7\n$");
  EXPECT_EXIT(
      {
        InstallCrashNotice();
        const AtWork outer("case 6");
        { const AtWork inner("case 5"); }
        std::abort();
      },
      testing::KilledBySignal(SIGABRT), "^gauntlet: crashed .* in case 6\n$");
}

TEST(CrashNoticeDeathTest, PrintsNothing_WhenNothingIsAtWork) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        InstallCrashNotice();
        std::abort();
      },
      testing::KilledBySignal(SIGABRT), "^$");
}

// The signal is sent by a call. No instruction raises it again when the handler
// returns, so the handler must end the program.
TEST(CrashNoticeDeathTest, EndsTheProgramWhoeverSendsTheSignal) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        InstallCrashNotice();
        raise(SIGABRT);
        std::_Exit(0);
      },
      testing::KilledBySignal(SIGABRT), "^$");
  EXPECT_EXIT(
      {
        InstallCrashNotice();
        const AtWork at("case 1");
        raise(SIGABRT);
        std::_Exit(0);
      },
      testing::KilledBySignal(SIGABRT), "^gauntlet: crashed .* in case 1\n$");
}

TEST(CrashNoticeDeathTest, LeavesAnothersHandler) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        std::signal(SIGABRT, [](int) { std::_Exit(9); });
        InstallCrashNotice();
        const AtWork at("case 1");
        std::abort();
      },
      testing::ExitedWithCode(9), "^$");
}

}  // namespace
}  // namespace gauntlet
