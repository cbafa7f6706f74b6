#include "engine/real/process/child_process.h"

#include <gtest/gtest.h>

#include "tests/engine/real/scratch_directory.h"
#include "tests/engine/real/test_process.h"
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

namespace gauntlet {
namespace {

ChildProgram Shell(const std::string& script) {
  return {.path = "/bin/sh",
          .arguments = {"-c", script},
          .environment = {},
          .log_file = {},
          .kept_descriptors = {}};
}

TEST(ChildProcessTest, NamesTheProgramThatCannotBeStarted) {
  ChildProgram program = Shell("");
  program.path = "/no/such/program";
  const auto child = StartChild(program);
  ASSERT_FALSE(child.ok());
  EXPECT_EQ(child.status().ToString(),
            "NOT_FOUND: /no/such/program: start: No such file or directory");
}

TEST(ChildProcessTest, DistinguishesExitCodesFromSignals) {
  const ChildEnd exited = AwaitEnd(*StartChild(Shell("exit 7")));
  EXPECT_EQ(exited.code, 7);
  EXPECT_EQ(exited.signal, 0);
  const ChildEnd killed = AwaitEnd(*StartChild(Shell("kill -KILL $$")));
  EXPECT_EQ(killed.code, 128 + SIGKILL);
  EXPECT_EQ(killed.signal, SIGKILL);
}

TEST(ChildProcessTest, StartsWithDefaultSignalsThoughTheParentIgnoresThem) {
  const auto former = signal(SIGTERM, SIG_IGN);
  const ChildEnd end = AwaitEnd(*StartChild(Shell("kill -TERM $$; exit 3")));
  signal(SIGTERM, former);
  EXPECT_EQ(end.signal, SIGTERM);
}

TEST(ChildProcessTest, LeadsAProcessGroupOfItsOwn) {
  const auto child = StartChild(Shell("exec sleep 1000"));
  EXPECT_EQ(getpgid(child->pid), child->pid);
  SendSignal(*child, SIGKILL);
  AwaitEnd(*child);
}

TEST(ChildProcessTest, InheritsOnlyKeptDescriptors) {
  const ScratchDirectory scratch;
  const Descriptor leak(fcntl(STDIN_FILENO, F_DUPFD, 50));
  const Descriptor kept(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 60));
  ChildProgram program = Shell("");
  program.path = REAL_TEST_CHILD;
  program.arguments = {"descriptors"};
  program.log_file = scratch / "log";
  program.kept_descriptors = {kept.get()};
  EXPECT_EQ(AwaitEnd(*StartChild(program)).code, 0);
  EXPECT_EQ(TextOf(scratch / "log"),
            "0\n1\n2\n3\n" + std::to_string(kept.get()) + "\n");
}

TEST(ChildProcessTest, RunsNoForkHandlerInTheChild) {
  static bool is_due = false;
  pthread_atfork(nullptr, nullptr, [] {
    if (is_due) _exit(99);
  });
  is_due = true;
  const auto child = StartChild(Shell("exit 7"));
  is_due = false;
  EXPECT_EQ(AwaitEnd(*child).code, 7);
}

TEST(ChildProcessTest, LeavesNoDescriptorsInTheParent) {
  const auto next_free = [] {
    return Descriptor(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)).get();
  };
  const int before = next_free();
  for (int i = 0; i < 3; ++i) AwaitEnd(*StartChild(Shell("exit 0")));
  EXPECT_EQ(next_free(), before);
}

TEST(ChildProcessTest, AppendsBothOutputsToItsLog) {
  const ScratchDirectory scratch;
  ChildProgram program = Shell("echo out; echo err >&2");
  program.log_file = scratch / "log";
  AwaitEnd(*StartChild(program));
  AwaitEnd(*StartChild(program));
  EXPECT_EQ(TextOf(scratch / "log"), "out\nerr\nout\nerr\n");
}

TEST(ChildProcessTest, RefusesALogThatIsAPipeOrALink) {
  const ScratchDirectory scratch;
  ASSERT_EQ(mkfifo((scratch / "pipe").c_str(), 0600), 0);
  std::filesystem::create_symlink(scratch / "target", scratch / "link");
  for (const char* const log : {"pipe", "link"}) {
    ChildProgram program = Shell("echo out");
    program.log_file = scratch / log;
    EXPECT_EQ(StartChild(program).status().code(), Code::kInvalidArgument);
  }
  EXPECT_FALSE(std::filesystem::exists(scratch / "target"));
}

}  // namespace
}  // namespace gauntlet
