#include "engine/real/host/real_host.h"

#include <gtest/gtest.h>

#include "engine/real/host/interrupt_count.h"
#include "tests/engine/real/scratch_directory.h"
#include "tests/engine/real/test_process.h"

namespace gauntlet {
namespace {

void LetOneInterruptPass() { SystemClock().SleepUntil(In(kOneInterrupt)); }

TEST(InterruptCountTest, SignalsCloseToTheFirstAreOneInterrupt) {
  InterruptCount interrupts;
  const Time first = Time(std::chrono::seconds(7));
  EXPECT_TRUE(interrupts.Add(first));
  EXPECT_FALSE(interrupts.Add(first));
  EXPECT_FALSE(interrupts.Add(first + kOneInterrupt - Duration(1)));
  EXPECT_EQ(interrupts.count(), 1);
  EXPECT_TRUE(interrupts.Add(first + kOneInterrupt));
  EXPECT_TRUE(interrupts.Add(first + kOneInterrupt + Duration(1)));
  EXPECT_EQ(interrupts.count(), 3);
}

TEST(RealHostTest, CountsTerminationNoticesAndExitsWithTheCodeGiven) {
  TestProcess child({"notices", "4"});
  ASSERT_EQ(child.ReadLine(), "ready");
  child.Send(SIGTERM);
  EXPECT_EQ(child.ReadLine(), "notice 1, 0 at the terminal");
  child.Send(SIGINT);
  EXPECT_EQ(child.ReadLine(), "notice 2, 1 at the terminal");
  child.Send(SIGUSR1);
  EXPECT_EQ(child.ReadLine(), "notice 3, 1 at the terminal");
  LetOneInterruptPass();
  child.Send(SIGINT);
  EXPECT_EQ(child.ReadLine(), "notice 4, 2 at the terminal");
  const ChildEnd end = child.Await();
  EXPECT_EQ(end.code, 143);
  EXPECT_EQ(end.signal, 0);
}

TEST(RealHostTest, SecondInterrupt_EndsTheProcess_AndIsReportedIfConfigured) {
  const ScratchDirectory scratch;
  TestProcess child({"notices", "9", "130"}, scratch / "log");
  ASSERT_EQ(child.ReadLine(), "ready");
  child.Send(SIGINT);
  EXPECT_EQ(child.ReadLine(), "notice 1, 1 at the terminal");
  child.Send(SIGTERM);
  EXPECT_EQ(child.ReadLine(), "notice 2, 1 at the terminal");
  LetOneInterruptPass();
  child.Send(SIGINT);
  EXPECT_EQ(child.Await().code, 130);
  EXPECT_EQ(
      TextOf(scratch / "log"),
      "gauntlet: interrupted again, ended at once: results may be missing\n");
}

// `timeout -s INT` signals its child and then the group of its child.
TEST(RealHostTest, SecondInterruptSignalRightAfterTheFirst_DoesNotEndIt) {
  TestProcess child({"notices", "2", "130"});
  ASSERT_EQ(child.ReadLine(), "ready");
  child.Send(SIGINT);
  child.Send(SIGINT);
  EXPECT_EQ(child.ReadLine(), "notice 1, 1 at the terminal");
  child.Send(SIGTERM);
  EXPECT_EQ(child.ReadLine(), "notice 2, 1 at the terminal");
  EXPECT_EQ(child.Await().code, 143);
}

TEST(RealHostTest, NoticeBeforeTheHandlersAreThereIsNotLost) {
  TestProcess child({"starting"});
  ASSERT_EQ(child.ReadLine(), "starting");
  child.Send(SIGTERM);
  EXPECT_EQ(child.ReadLine(), "ready, notices 1");
  EXPECT_EQ(child.Await().code, 0);
}

TEST(RealHostTest, ExitFlushesStandardOutput) {
  const ScratchDirectory scratch;
  const auto child = StartChild({.path = REAL_TEST_CHILD,
                                 .arguments = {"notices"},
                                 .environment = {},
                                 .log_file = scratch / "log",
                                 .kept_descriptors = {}});
  char ready[8] = {};
  pollfd wait = {.fd = child->socket.get(), .events = POLLIN, .revents = 0};
  while (poll(&wait, 1, 60000) == 1 && read(wait.fd, ready, 1) == 1) {
    SendSignal(*child, SIGTERM);
  }
  EXPECT_EQ(AwaitEnd(*child).code, 143);
  EXPECT_EQ(TextOf(scratch / "log"), "flushed at exit");
}

TEST(RealHostTest, HasAName) { EXPECT_FALSE(RealHost().Name().empty()); }

}  // namespace
}  // namespace gauntlet
