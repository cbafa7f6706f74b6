// A traced program behaves like an untraced one, and leaves nothing behind.
#include "chaos/trace/tracer.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <fstream>

#include <gtest/gtest.h>

#include "tests/chaos/inject/child_process.h"
#include "tests/chaos/trace/traced_run.h"
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

namespace gauntlet {
namespace {

struct TracerTest : TraceTest {};

bool IsOneLine(const std::string& text) {
  return !text.empty() && text.find('\n') == std::string::npos;
}

TEST_F(TracerTest, ReturnsExitCodeAndSignal) {
  for (const int code : {0, 1, 77, 255})
    EXPECT_EQ(TracedRun().Run({"exit", std::to_string(code)}).exit_code, code);
  for (const int signal : {SIGTERM, SIGKILL, SIGABRT, SIGTRAP})
    EXPECT_EQ(TracedRun().Run({"die", std::to_string(signal)}).signal, signal);
}

TEST_F(TracerTest, SendsKeyboardInterruptToProgramAlone) {
  // Uses its own process group, so that the interrupt reaches only this child.
  const pid_t child = StartChild([] {
    setpgid(0, 0);
    const int code = TracedRun().Run({"interrupt"}).exit_code;
    _exit(code);
  });
  EXPECT_EQ(WaitFor(child), "exit 7");
}

TEST_F(TracerTest, RefusesForeignCalls_AndReportsIt) {
  for (const char* const command : {"int80", "x32"}) {
    TracedRun run;
    const TraceOutcome outcome = run.Run({command});
    EXPECT_EQ(outcome.exit_code, 0) << command;
    EXPECT_TRUE(Contains(outcome.notes, "32-bit or x32")) << command;
  }
  TracedRun run;
  const TraceOutcome outcome = run.Run({"no-call"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.notes, std::vector<std::string>{});
}

TEST_F(TracerTest, RefusesAsynchronousIo_AndReportsIt) {
  TracedRun run;
  const TraceOutcome outcome = run.Run({"asynchronous-io"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_TRUE(Contains(outcome.notes, "io_uring_setup was refused"));
  EXPECT_TRUE(Contains(outcome.notes, "io_setup was refused"));
}

TEST_F(TracerTest, RefusesClonesThatCannotBeTraced_AndReportsIt) {
  TracedRun run;
  const TraceOutcome outcome = run.Run({"untraced-clone"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_TRUE(Contains(outcome.notes, "clone with CLONE_UNTRACED was refused"));
}

TEST_F(TracerTest, ReportsThatTheProgramCallsPtrace) {
  TracedRun run;
  const TraceOutcome outcome = run.Run({"trace-me"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_TRUE(Contains(outcome.notes, "LeakSanitizer"));
}

TEST_F(TracerTest, KillsProcessesInBackground_AndReportsIt) {
  TracedRun run;
  run.options.background_grace = std::chrono::milliseconds(200);
  const TraceOutcome outcome = run.Run({"background", "{out}"});
  EXPECT_EQ(outcome.exit_code, 5);
  EXPECT_EQ(outcome.background_processes, 1);
  EXPECT_TRUE(Contains(outcome.notes, "in the background"));
  const pid_t daemon = std::stoi(ContentsOf(run.out() + "/daemon"));
  EXPECT_FALSE(IsRunning(daemon));
}

TEST_F(TracerTest, KillsProgramAtTimeLimit) {
  TracedRun run;
  run.options.time_limit = std::chrono::milliseconds(300);
  const TraceOutcome outcome = run.Run({"terminated", "{out}"});
  EXPECT_TRUE(outcome.is_timed_out);
  EXPECT_EQ(outcome.signal, SIGKILL);
  EXPECT_TRUE(Contains(outcome.notes, "time limit"));
}

TEST_F(TracerTest, LeavesNoProcess_WhenTracerIsKilled) {
  const Folder folder;
  const std::string pids = folder.path() + "/pids";
  const pid_t tracer = StartChild([&] {
    // The tracer is killed, so it cannot remove its temporary folders. It
    // creates them in `folder`, which the test removes.
    setenv("TMPDIR", folder.path().c_str(), 1);
    TracedRun run;
    run.Run({"sessions", "{out}", pids});
  });
  for (int i = 0; i < 10'000 && ContentsOf(pids).empty(); ++i) usleep(1000);
  ASSERT_NE(ContentsOf(pids), "");
  kill(tracer, SIGKILL);
  EXPECT_EQ(WaitFor(tracer), "signal 9");
  std::ifstream numbers(pids);
  for (pid_t pid = 0; numbers >> pid;) {
    // The kernel kills the traced processes when the tracer ends.
    for (int i = 0; i < 2000 && IsRunning(pid); ++i) usleep(1000);
    EXPECT_FALSE(IsRunning(pid));
  }
}

TEST_F(TracerTest, TracesInSeveralThreadsAtOnce) {
  const auto run_one = [] {
    TracedRun run;
    run.options.keyboard = KeyboardSignals::kLeft;
    EXPECT_EQ(run.Run({"threads", "{out}"}).exit_code, 0);
    run.ExpectReplayed();
  };
  std::thread other(run_one);
  run_one();
  other.join();
}

TEST_F(TracerTest, SendsOutputToDescriptor) {
  TracedRun run;
  const std::string path = run.aside() + "/output";
  const Descriptor output(open(path.c_str(), O_CREAT | O_WRONLY, 0600));
  const auto outcome = Trace({.arguments = {"sh", "-c", "echo $A; pwd"},
                              .working_directory = run.aside(),
                              .environment = {{"A=text"}},
                              .output = output.get()},
                             run.options);
  ASSERT_TRUE(outcome.ok()) << outcome.status().ToString();
  EXPECT_EQ(ContentsOf(path), "text\n" + run.aside() + "\n");
}

TEST(StartTest, RefusesCommandsThatCannotStart) {
  const Folder folder;
  TraceOptions options;
  options.directories = {folder.path()};
  std::ofstream(folder.path() + "/text") << "no program";
  struct Case {
    std::vector<std::string> arguments;
    Code code;
  };
  const Case cases[] = {
      {{}, Code::kInvalidArgument},
      {{""}, Code::kInvalidArgument},
      {{"no-such-command-anywhere"}, Code::kNotFound},
      {{"/no/such/command"}, Code::kNotFound},
      {{folder.path() + "/text"}, Code::kForbidden},  // not executable
      {{folder.path()}, Code::kForbidden},
  };
  for (const Case& each : cases) {
    const auto outcome = Trace({.arguments = each.arguments}, options);
    if (outcome.status().message().starts_with("cannot trace the program"))
      GTEST_SKIP() << outcome.status().message();
    EXPECT_EQ(outcome.status().code(), each.code)
        << outcome.status().ToString();
    EXPECT_TRUE(IsOneLine(outcome.status().message()));
  }
}

TEST(StartTest, RefusesAFileInPlaceOfADirectory) {
  TraceOptions options;
  options.directories = {"/no/such/directory"};
  EXPECT_EQ(Trace({.arguments = {"true"}}, options).status().code(),
            Code::kNotFound);
}

TEST(StartTest, RefusesSetUserIdProgram) {
  const Folder folder;
  const std::string program = folder.path() + "/program";
  std::filesystem::copy_file(VICTIM, program);
  if (chown(program.c_str(), 1, 1) != 0 || chmod(program.c_str(), 04755) != 0)
    GTEST_SKIP() << "only root can make another user's program";
  TraceOptions options;
  options.directories = {folder.path()};
  const Status status =
      Trace({.arguments = {program, "exit", "0"}}, options).status();
  EXPECT_EQ(status.code(), Code::kFailedPrecondition);
  EXPECT_NE(status.message().find("set-uid"), std::string::npos);
  // A set-uid program that a traced program starts is run, but without the
  // rights of its owner.
  const auto outcome =
      Trace({.arguments = {"sh", "-c", program + " exit 3; exit $?"}}, options);
  if (outcome.status().code() == Code::kForbidden)
    GTEST_SKIP() << outcome.status().message();
  ASSERT_TRUE(outcome.ok()) << outcome.status().ToString();
  EXPECT_EQ(outcome->exit_code, 3);
  EXPECT_TRUE(Contains(outcome->notes, "set-uid or set-gid: it ran without"));
}

Status StatusOfTrace() {
  const Folder folder;
  TraceOptions options;
  options.directories = {folder.path()};
  return Trace({.arguments = {VICTIM, "exit", "0"}}, options).status();
}

// Exits with 0 if Trace is refused with this code and text, else with 1.
[[noreturn]] void ExpectRefused(Code code, const std::string& text) {
  const Status status = StatusOfTrace();
  const bool is_refused = status.code() == code &&
                          IsOneLine(status.message()) &&
                          status.message().find(text) != std::string::npos;
  if (!is_refused) fmt::print(stderr, "found {}\n", status.ToString());
  _exit(is_refused ? 0 : 1);
}

// Makes the call fail with EPERM in this process from now on.
void Forbid(uint32_t call) {
  std::array<sock_filter, 4> filter = {{
      {BPF_LD | BPF_W | BPF_ABS, 0, 0, 0},  // loads the number of the call
      {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, call},
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | EPERM},
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
  }};
  const sock_fprog program = {.len = filter.size(), .filter = filter.data()};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) _exit(77);
}

TEST(PermissionTest, ReportsThatPtraceIsNotPermitted) {
  const pid_t child = StartChild([] {
    Forbid(SYS_ptrace);
    ExpectRefused(Code::kForbidden, "ptrace_scope");
  });
  const std::string end = WaitFor(child);
  if (end == "exit 77") GTEST_SKIP() << "seccomp is not permitted here";
  EXPECT_EQ(end, "exit 0");
}

TEST_F(TracerTest, ReportsThatSeccompIsNotPermitted) {
  const pid_t child = StartChild([] {
    Forbid(SYS_prctl);
    ExpectRefused(Code::kForbidden, "seccomp");
  });
  EXPECT_EQ(WaitFor(child), "exit 0");
}

TEST_F(TracerTest, ReportsThatThereIsNoProc) {
  const pid_t child = StartChild([] {
    const bool is_hidden =
        unshare(CLONE_NEWNS) == 0 &&
        mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
        umount2("/proc", MNT_DETACH) == 0;
    if (!is_hidden) _exit(77);
    ExpectRefused(Code::kFailedPrecondition, "/proc");
  });
  const std::string end = WaitFor(child);
  if (end == "exit 77") GTEST_SKIP() << "mounts are not permitted here";
  EXPECT_EQ(end, "exit 0");
}

TEST_F(TracerTest, ReportsThatADebuggerTracesThisProcess) {
  const pid_t child = StartChild([] {
    raise(SIGSTOP);
    ExpectRefused(Code::kForbidden, "traces this one already");
  });
  ASSERT_EQ(WaitFor(child, WUNTRACED), fmt::format("stopped {}", SIGSTOP));
  ASSERT_EQ(ptrace(PTRACE_SEIZE, child, nullptr,
                   uintptr_t{PTRACE_O_TRACEFORK | PTRACE_O_EXITKILL}),
            0);
  kill(child, SIGCONT);
  // Acts as a debugger that only continues every stopped process.
  int end = -1;
  for (int status = 0; end < 0;) {
    const pid_t stopped = waitpid(-1, &status, __WALL);
    ASSERT_GT(stopped, 0);
    if (WIFSTOPPED(status)) {
      ptrace(PTRACE_CONT, stopped, nullptr, nullptr);
    } else if (stopped == child) {
      end = status;
    }
  }
  EXPECT_TRUE(WIFEXITED(end));
  EXPECT_EQ(WEXITSTATUS(end), 0);
}

}  // namespace
}  // namespace gauntlet
