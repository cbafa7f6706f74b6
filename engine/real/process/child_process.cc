#include "engine/real/process/child_process.h"

#include <array>
#include <cerrno>
#include <utility>

#include "engine/real/host/real_host.h"
#include "engine/real/posix/high_descriptor.h"
#include "engine/real/posix/posix_status.h"
#include "engine/real/posix/regular_file.h"
#include "engine/real/process/launcher_socket.h"
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gauntlet {
namespace {

constexpr int kFirstOwnDescriptor = 10;  // above those with a fixed meaning
constexpr int kExecFailed = 127;

struct Pipe {
  Descriptor read;
  Descriptor write;
};

Result<Descriptor> MoveUp(Descriptor fd) {
  return DuplicateFrom(fd, kFirstOwnDescriptor, "descriptor");
}

Result<Pipe> NewPipe() {
  std::array<int, 2> ends = {};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    return PosixError(errno, "pipe", "create");
  }
  Descriptor read(ends[0]);
  Descriptor write(ends[1]);
  ASSIGN_OR_RETURN(read, MoveUp(std::move(read)));
  ASSIGN_OR_RETURN(write, MoveUp(std::move(write)));
  return Pipe{.read = std::move(read), .write = std::move(write)};
}

struct SocketPair {
  Descriptor ours;
  Descriptor childs;
};

Result<SocketPair> NewSocketPair() {
  std::array<int, 2> ends = {};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return PosixError(errno, "socket", "create");
  }
  Descriptor ours(ends[0]);
  Descriptor childs(ends[1]);
  ASSIGN_OR_RETURN(ours, MoveUp(std::move(ours)));
  ASSIGN_OR_RETURN(childs, MoveUp(std::move(childs)));
  return SocketPair{.ours = std::move(ours), .childs = std::move(childs)};
}

Status MakeNonblocking(const Descriptor& fd) {
  if (fcntl(fd.get(), F_SETFL, fcntl(fd.get(), F_GETFL) | O_NONBLOCK) == 0) {
    return OkStatus();
  }
  return PosixError(errno, "descriptor", "O_NONBLOCK");
}

Result<Descriptor> EmptyInput() {
  Descriptor fd(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return PosixError(errno, "/dev/null", "open");
  return MoveUp(std::move(fd));
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Everything that the child needs, prepared before the fork: between fork and
// exec only async-signal-safe calls are allowed.
struct Preparation {
  const char* path = nullptr;
  char* const* arguments = nullptr;
  char* const* environment = nullptr;
  int input = -1;
  int output = -1;  // -1: inherits 1 and 2
  int socket = -1;
  int failure = -1;  // receives errno if exec fails
  const std::vector<int>* kept = nullptr;
  sigset_t blocked = {};
  pid_t parent = 0;
};

// Restores the default handling of all signals. Exception: an ignored SIGHUP
// stays ignored, as nohup covers children too. REQUIRES: all signals are
// blocked. So none runs a handler of the parent, or has its default effect
// before the program starts.
void ResetSignals(const sigset_t& blocked) {
  struct sigaction hangup = {};
  sigaction(SIGHUP, nullptr, &hangup);
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) {
    if (signal == SIGHUP && hangup.sa_handler == SIG_IGN) continue;
    sigaction(signal, &action, nullptr);  // fails for those that cannot change
  }
  sigprocmask(SIG_SETMASK, &blocked, nullptr);
}

sigset_t BlockedIn(const ChildProgram& program) {
  if (program.signals == SignalsAtStart::kHeld) {
    return SignalsThatMayBeNotices();
  }
  sigset_t none = {};
  sigemptyset(&none);
  return none;
}

// Forks with all signals blocked in the child. _Fork runs no handlers of
// pthread_atfork. The handler of libfiu (fiu-run) would start a thread in the
// child. That thread might take descriptor numbers that the child is about to
// use.
pid_t Fork() {
  sigset_t all = {};
  sigset_t former = {};
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &former);
  const pid_t pid = _Fork();
  if (pid != 0) sigprocmask(SIG_SETMASK, &former, nullptr);
  return pid;
}

// Returns the error of a failed fork. kResourceExhausted if other processes may
// end and so make room.
Status ForkError(int error, const std::string& path) {
  const Status status = PosixError(error, path, "fork");
  if (error == EAGAIN) {
    return ResourceExhausted(status.message() +
                             " (no process left: ulimit -u, or the cgroup's "
                             "pids.max)");
  }
  return error == ENOMEM ? ResourceExhausted(status.message()) : status;
}

bool ArrangeDescriptors(const Preparation& child) {
  if (dup2(child.input, STDIN_FILENO) < 0) return false;
  if (child.output >= 0 && (dup2(child.output, STDOUT_FILENO) < 0 ||
                            dup2(child.output, STDERR_FILENO) < 0)) {
    return false;
  }
  if (dup2(child.socket, kLauncherSocketDescriptor) < 0) return false;
  if (syscall(SYS_close_range, kLauncherSocketDescriptor + 1, ~0U,
              CLOSE_RANGE_CLOEXEC) != 0) {
    return false;
  }
  for (const int fd : *child.kept) {
    if (fcntl(fd, F_SETFD, 0) != 0) return false;
  }
  return true;
}

[[noreturn]] void BecomeProgram(const Preparation& child) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The parent may have died before prctl, which then has no effect.
  if (getppid() != child.parent) _exit(kExecFailed);
  ResetSignals(child.blocked);
  if (ArrangeDescriptors(child)) {
    execve(child.path, child.arguments, child.environment);
  }
  const int error = errno;
  if (write(child.failure, &error, sizeof(error)) < 0) _exit(kExecFailed);
  _exit(kExecFailed);
}

// Reads the errno of a failed start. Returns 0 if exec succeeded: it has then
// closed the pipe.
int ReadFailure(int fd) {
  int error = 0;
  RetryOnInterrupt([&] { return read(fd, &error, sizeof(error)); });
  return error;
}

// Opens a child's standard output and error; both ends invalid: inherited.
Result<Pipe> OutputOf(const ChildProgram& program) {
  Pipe output;
  if (!program.log_file.empty()) {
    ASSIGN_OR_RETURN(output.write, OpenToAppend(program.log_file));
    ASSIGN_OR_RETURN(output.write, MoveUp(std::move(output.write)));
  } else if (program.output == ChildOutput::kPiped) {
    ASSIGN_OR_RETURN(output, NewPipe());
    RETURN_IF_ERROR(MakeNonblocking(output.read));
    RETURN_IF_ERROR(MakeNonblocking(output.write));
  }
  return output;
}

}  // namespace

Result<ChildProcess> StartChild(const ChildProgram& program) {
  std::vector<std::string> arguments = {program.path};
  arguments.insert(arguments.end(), program.arguments.begin(),
                   program.arguments.end());
  std::vector<std::string> environment = program.environment;
  const std::vector<char*> argv = Pointers(arguments);
  const std::vector<char*> envp = Pointers(environment);
  ASSIGN_OR_RETURN(SocketPair socket, NewSocketPair());
  ASSIGN_OR_RETURN(Pipe failure, NewPipe());
  ASSIGN_OR_RETURN(const Descriptor input, EmptyInput());
  ASSIGN_OR_RETURN(Pipe output, OutputOf(program));
  RETURN_IF_ERROR(MakeNonblocking(socket.ours));
  const Preparation preparation = {.path = program.path.c_str(),
                                   .arguments = argv.data(),
                                   .environment = envp.data(),
                                   .input = input.get(),
                                   .output = output.write.get(),
                                   .socket = socket.childs.get(),
                                   .failure = failure.write.get(),
                                   .kept = &program.kept_descriptors,
                                   .blocked = BlockedIn(program),
                                   .parent = getpid()};
  const pid_t pid = Fork();
  if (pid < 0) return ForkError(errno, program.path);
  if (pid == 0) BecomeProgram(preparation);
  failure.write.Reset();
  ChildProcess child = {
      .pid = pid,
      .pidfd = Descriptor(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))),
      .socket = std::move(socket.ours),
      .output = std::move(output.read)};
  CHECK(child.pidfd.valid(), "pidfd_open of a child that is not reaped");
  if (const int error = ReadFailure(failure.read.get()); error != 0) {
    AwaitEnd(child);
    return PosixError(error, program.path, "start");
  }
  return child;
}

ChildEnd AwaitEnd(const ChildProcess& child) {
  int status = 0;
  const pid_t reaped =
      RetryOnInterrupt([&] { return waitpid(child.pid, &status, 0); });
  CHECK(reaped == child.pid, "somebody else reaped a child");
  if (WIFSIGNALED(status)) {
    return {.code = 128 + WTERMSIG(status), .signal = WTERMSIG(status)};
  }
  return {.code = WEXITSTATUS(status), .signal = 0};
}

void SendSignal(const ChildProcess& child, int signal) {
  syscall(SYS_pidfd_send_signal, child.pidfd.get(), signal, nullptr, 0);
}

}  // namespace gauntlet
