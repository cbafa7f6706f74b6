#include "chaos/trace/process/program_start.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <utility>

#include "chaos/trace/process/process_files.h"
#include "engine/real/posix/posix_status.h"
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gauntlet {
namespace {

// Steps of the child; a failed one is reported with its errno.
enum class Step : int { kDirectory, kOutput, kNoNewPrivileges, kFilter, kExec };
struct Failure {
  Step step = Step::kExec;
  int error = 0;
};

constexpr uintptr_t kOptions = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACESECCOMP |
                               PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
                               PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC |
                               PTRACE_O_TRACEEXIT | PTRACE_O_EXITKILL;

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Searches as execvp(3). Empty: not found.
std::string FindProgram(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* const path = getenv("PATH");  // NOLINT(concurrency-mt-unsafe)
  std::string rest = path == nullptr ? "/usr/bin:/bin" : path;
  while (true) {
    const size_t colon = rest.find(':');
    const std::string directory = rest.substr(0, colon);
    const std::string candidate =
        (directory.empty() ? "." : directory) + "/" + name;
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
    if (colon == std::string::npos) return "";
    rest.erase(0, colon + 1);
  }
}

// Everything that the child needs, prepared before the fork: in the child of a
// process with threads only few calls are allowed.
struct ChildPlan {
  std::string program;
  std::vector<char*> arguments;
  std::vector<char*> environment;
  const char* working_directory = nullptr;  // nullptr: unchanged
  int output = -1;
  std::vector<sock_filter> filter;
  int go = -1;      // receives a byte once the process is traced
  int go_end = -1;  // other end of `go`'s pipe; only the parent has it open
  int report = -1;  // receives a Failure
};

[[noreturn]] void Report(const ChildPlan& plan, Step step) {
  const Failure failure = {.step = step, .error = errno};
  // If the report cannot be written, the exit code 127 remains.
  const ssize_t ignored = write(plan.report, &failure, sizeof failure);
  static_cast<void>(ignored);
  _exit(127);
}

[[noreturn]] void BecomeProgram(const ChildPlan& plan) {
  close(plan.go_end);
  char byte = 0;
  if (RetryOnInterrupt([&] { return read(plan.go, &byte, 1); }) != 1)
    _exit(127);
  if (plan.working_directory != nullptr && chdir(plan.working_directory) != 0)
    Report(plan, Step::kDirectory);
  if (plan.output >= 0 && (dup2(plan.output, STDOUT_FILENO) < 0 ||
                           dup2(plan.output, STDERR_FILENO) < 0)) {
    Report(plan, Step::kOutput);
  }
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    Report(plan, Step::kNoNewPrivileges);
  const sock_fprog program = {
      .len = static_cast<unsigned short>(plan.filter.size()),  // NOLINT
      .filter = const_cast<sock_filter*>(plan.filter.data())};
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    Report(plan, Step::kFilter);
  execve(plan.program.c_str(), plan.arguments.data(), plan.environment.data());
  Report(plan, Step::kExec);
}

Status ExplainRefusedTrace(int error) {
  const pid_t tracer = TracerOf(getpid());
  if (tracer != 0) {
    return Forbidden(fmt::format(
        "cannot trace the program: process {} traces this one already, as a "
        "debugger or strace does: run without it",
        tracer));
  }
  return Forbidden(fmt::format(
      "cannot trace the program: ptrace: {}: expected a system that permits "
      "it (kernel.yama.ptrace_scope below 3; in a container, "
      "--cap-add=SYS_PTRACE or a seccomp profile with ptrace)",
      std::generic_category().message(error)));
}

// Ends a child that still waits for its byte (ChildPlan::go).
void EndChild(pid_t child) {
  kill(child, SIGKILL);
  while (waitpid(child, nullptr, __WALL) < 0 && errno == EINTR) {
  }
}

}  // namespace

bool IsSetUserId(const std::string& path) {
  const auto status = StatusOf(path);
  if (!status || !S_ISREG(status->st_mode)) return false;
  const bool other_user =
      (status->st_mode & S_ISUID) != 0 && status->st_uid != geteuid();
  // Without group execute permission, the set-group-id bit means mandatory
  // locking.
  const bool other_group = (status->st_mode & S_ISGID) != 0 &&
                           (status->st_mode & S_IXGRP) != 0 &&
                           status->st_gid != getegid();
  return other_user || other_group;
}

Result<StartedProgram> StartedProgram::Start(const TracedCommand& command,
                                             const FilterScope& scope) {
#if !defined(__x86_64__)
  return FailedPrecondition("cannot trace the program: expected x86-64");
#endif
  if (command.arguments.empty() || command.arguments[0].empty())
    return InvalidArgument("cannot trace: expected a command, found none");
  if (!StatusOf("/proc/self/fd")) {
    return FailedPrecondition(
        "cannot trace the program: /proc: expected the processes of this "
        "machine, found none: mount it");
  }
  const std::string& name = command.arguments[0];
  ChildPlan plan{.program = FindProgram(name)};
  if (plan.program.empty())
    return NotFound(fmt::format("{}: command not found in PATH", name));
  if (IsSetUserId(plan.program)) {
    return FailedPrecondition(fmt::format(
        "{}: set-uid or set-gid: a traced program does not get such rights: "
        "trace the program that it starts",
        plan.program));
  }
  std::vector<std::string> arguments = command.arguments;
  std::vector<std::string> environment =
      command.environment.value_or(std::vector<std::string>());
  plan.arguments = Pointers(arguments);
  plan.environment = Pointers(environment);
  if (!command.environment) {
    plan.environment.clear();
    for (char** entry = environ; *entry != nullptr; ++entry)
      plan.environment.push_back(*entry);
    plan.environment.push_back(nullptr);
  }
  if (!command.working_directory.empty())
    plan.working_directory = command.working_directory.c_str();
  plan.output = command.output;
  plan.filter = FileCallFilter(scope);
  std::array<int, 2> go = {-1, -1};
  std::array<int, 2> report = {-1, -1};
  if (pipe2(go.data(), O_CLOEXEC) != 0) return PosixError(errno, name, "pipe");
  const Descriptor go_read(go[0]);
  const Descriptor go_write(go[1]);
  if (pipe2(report.data(), O_CLOEXEC) != 0)
    return PosixError(errno, name, "pipe");
  Descriptor report_read(report[0]);
  const Descriptor report_write(report[1]);
  plan.go = go_read.get();
  plan.go_end = go_write.get();
  plan.report = report_write.get();
  const pid_t child = fork();
  if (child == 0) BecomeProgram(plan);
  if (child < 0) {
    return ResourceExhausted(fmt::format(
        "{}: fork: {}", name, std::generic_category().message(errno)));
  }
  if (ptrace(PTRACE_SEIZE, child, nullptr, kOptions) != 0) {
    const int error = errno;
    EndChild(child);
    return ExplainRefusedTrace(error);
  }
  const char byte = 1;
  if (write(go_write.get(), &byte, 1) != 1) {
    const int error = errno;
    EndChild(child);
    return PosixError(error, name, "start");
  }
  return StartedProgram(child, std::move(report_read), name);
}

Status StartedProgram::FailureToStart() const {
  Failure failure;
  if (read(report_.get(), &failure, sizeof failure) != sizeof failure)
    return OkStatus();
  const auto text = std::generic_category().message(failure.error);
  switch (failure.step) {
    case Step::kDirectory:
      return PosixError(failure.error, "working directory", "chdir");
    case Step::kOutput:
      return PosixError(failure.error, "output", "dup2");
    case Step::kNoNewPrivileges:
    case Step::kFilter:
      return Forbidden(fmt::format(
          "cannot trace the program: seccomp: {}: expected a kernel and a "
          "container that permit seccomp filters",
          text));
    case Step::kExec:
      break;
  }
  return PosixError(failure.error, name_, "exec");
}

KeyboardSignalsIgnored::KeyboardSignalsIgnored()
    : interrupt_(signal(SIGINT, SIG_IGN)), quit_(signal(SIGQUIT, SIG_IGN)) {}

KeyboardSignalsIgnored::~KeyboardSignalsIgnored() {
  signal(SIGINT, interrupt_);
  signal(SIGQUIT, quit_);
}

}  // namespace gauntlet
