#include "chaos/inject/process_effects.h"

#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/chaos/inject/child_process.h"
#include "tests/engine/real/scratch_directory.h"
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gauntlet {
namespace {

using std::chrono::milliseconds;

void WriteLine(int file, const std::string& line) {
  if (write(file, line.data(), line.size()) < 0) _exit(99);
}

TEST(ProcessEffectsTest, EndsTheProcessAsTheFaultSpecifies) {
  struct EndCase {
    std::string end;
    std::function<void(ProcessEffects&)> act;
  };
  const std::vector<EndCase> cases = {
      {"exit 70", [](ProcessEffects& effects) { effects.CrashNow(70); }},
      {"signal 6", [](ProcessEffects& effects) { effects.AbortNow("why"); }},
      {"signal 9", [](ProcessEffects& effects) { effects.KillNow(); }},
      {"signal 9",
       [](ProcessEffects& effects) {
         effects.KillSoon(milliseconds(0));
         effects.HangForever();
       }},
      // No handler catches the notice here.
      {"signal 15",
       [](ProcessEffects& effects) {
         effects.DeliverNotice(std::chrono::seconds(60), NoticeBy::kSignal);
         effects.HangForever();
       }},
      {"exit 0",
       [](ProcessEffects& effects) { effects.Sleep(milliseconds(1)); }},
  };
  for (const EndCase& c : cases) {
    const pid_t child = StartChild([&c] {
      ProcessEffects effects;
      c.act(effects);
    });
    EXPECT_EQ(WaitFor(child), c.end);
  }
}

TEST(ProcessEffectsTest, CrashRunsNoExitHandlerAndFlushesNothing) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = StartChild([&ends] {
    std::FILE* file = fdopen(ends[1], "w");
    std::fputs("still in the buffer", file);
    ProcessEffects().CrashNow(70);
  });
  close(ends[1]);
  EXPECT_EQ(WaitFor(child), "exit 70");
  char byte;
  EXPECT_EQ(read(ends[0], &byte, 1), 0);
  close(ends[0]);
}

TEST(ProcessEffectsTest, KilledProcessContinuesUntilThen) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = StartChild([&ends] {
    ProcessEffects effects;
    effects.KillSoon(milliseconds(50));
    WriteLine(ends[1], "x");
    effects.HangForever();
  });
  close(ends[1]);
  char byte;
  EXPECT_EQ(read(ends[0], &byte, 1), 1);
  EXPECT_EQ(WaitFor(child), "signal 9");
  close(ends[0]);
}

volatile sig_atomic_t notices = 0;

TEST(ProcessEffectsTest, HandledNoticeIsFollowedByAKillAfterTheGrace) {
  const auto catch_notices = [] {
    signal(SIGTERM, [](int) { notices = notices + 1; });
  };
  const pid_t orderly = StartChild([&catch_notices] {
    catch_notices();
    ProcessEffects().DeliverNotice(std::chrono::seconds(60), NoticeBy::kSignal);
    while (notices == 0) usleep(1000);
    _exit(notices == 1 ? 143 : 99);
  });
  EXPECT_EQ(WaitFor(orderly), "exit 143");
  const pid_t stubborn = StartChild([&catch_notices] {
    catch_notices();
    ProcessEffects effects;
    effects.DeliverNotice(milliseconds(50), NoticeBy::kSignal);
    effects.HangForever();
  });
  EXPECT_EQ(WaitFor(stubborn), "signal 9");
}

TEST(ProcessEffectsTest, StoppedProcessStaysStoppedUntilItIsContinued) {
  const pid_t child =
      StartChild([] { ProcessEffects().StopSelf(milliseconds(0)); });
  EXPECT_EQ(WaitFor(child, WUNTRACED), fmt::format("stopped {}", SIGSTOP));
  EXPECT_EQ(kill(child, SIGCONT), 0);
  EXPECT_EQ(WaitFor(child), "exit 0");
}

TEST(ProcessEffectsTest, StopWithADurationEndsByItself) {
  const pid_t child =
      StartChild([] { ProcessEffects().StopSelf(milliseconds(50)); });
  EXPECT_EQ(WaitFor(child, WUNTRACED), fmt::format("stopped {}", SIGSTOP));
  EXPECT_EQ(WaitFor(child), "exit 0");
}

TEST(ProcessEffectsTest, ContinuingHelper_HoldsNoFilesOfStoppedProcess) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child =
      StartChild([] { ProcessEffects().StopSelf(std::chrono::seconds(5)); });
  close(ends[1]);
  EXPECT_EQ(WaitFor(child, WUNTRACED), fmt::format("stopped {}", SIGSTOP));
  EXPECT_EQ(kill(child, SIGKILL), 0);
  EXPECT_EQ(WaitFor(child), "signal 9");
  // The read returns end of file once no process holds the other end.
  alarm(3);
  char byte;
  EXPECT_EQ(read(ends[0], &byte, 1), 0);
  alarm(0);
  close(ends[0]);
}

// The test adopts the helper, so that the test can wait for the end of the
// helper.
TEST(ProcessEffectsTest, ContinuingHelper_EndsWithStoppedProcess) {
  ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
  const pid_t child =
      StartChild([] { ProcessEffects().StopSelf(std::chrono::seconds(60)); });
  EXPECT_EQ(WaitFor(child, WUNTRACED), fmt::format("stopped {}", SIGSTOP));
  EXPECT_EQ(kill(child, SIGKILL), 0);
  EXPECT_EQ(WaitFor(child), "signal 9");
  alarm(10);
  int status = -1;
  EXPECT_GT(wait(&status), 0);
  alarm(0);
  EXPECT_TRUE(WIFEXITED(status));
  prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
}

// The process has no handler, so that the signal ends it once it is awake.
TEST(ProcessEffectsTest, ContinuingHelper_OutlivesSignalsToTheProcessGroup) {
  const pid_t child = StartChild([] {
    setpgid(0, 0);
    ProcessEffects().StopSelf(milliseconds(200));
  });
  EXPECT_EQ(WaitFor(child, WUNTRACED), fmt::format("stopped {}", SIGSTOP));
  EXPECT_EQ(kill(-child, SIGTERM), 0);
  alarm(10);
  EXPECT_EQ(WaitFor(child), "signal 15");
  alarm(0);
}

TEST(ProcessEffectsTest, StopLeavesTheSignalMaskAsItWas) {
  const pid_t child = StartChild([] {
    ProcessEffects().StopSelf(milliseconds(10));
    raise(SIGTERM);
  });
  EXPECT_EQ(WaitFor(child, WUNTRACED), fmt::format("stopped {}", SIGSTOP));
  EXPECT_EQ(WaitFor(child), "signal 15");
}

TEST(FiredFaultFilesTest, MarksOnceAndOutlivesTheProcess) {
  const ScratchDirectory directory;
  const pid_t child = StartChild([&directory] {
    FiredFaultFiles files(directory.path());
    const bool first = files.MarkFired("f");
    const bool second = files.MarkFired("f");
    if (first && !second) raise(SIGKILL);
  });
  EXPECT_EQ(WaitFor(child), "signal 9");
  FiredFaultFiles files(directory.path());
  EXPECT_TRUE(files.HasFired("f"));
  EXPECT_FALSE(files.HasFired("g"));
  EXPECT_FALSE(files.MarkFired("f"));
  EXPECT_TRUE(files.MarkFired("g"));
}

TEST(FiredFaultFilesTest, ExactlyOneOfManyProcessesIsTheFirst) {
  const ScratchDirectory directory;
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) {
    children.push_back(StartChild([&directory] {
      _exit(FiredFaultFiles(directory.path()).MarkFired("f") ? 1 : 0);
    }));
  }
  int firsts = 0;
  for (const pid_t child : children) firsts += WaitFor(child) == "exit 1";
  EXPECT_EQ(firsts, 1);
}

}  // namespace
}  // namespace gauntlet
