#include "chaos/inject/process_effects.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <thread>
#include <utility>

#include "engine/check.h"
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gauntlet {
namespace {

constexpr int64_t kNanosPerSecond = 1'000'000'000;

timespec ToTimespec(Duration duration) {
  const int64_t count = duration.count();
  return {.tv_sec = count / kNanosPerSecond,
          .tv_nsec = count % kNanosPerSecond};
}

void SleepFor(Duration duration) {
  timespec left = ToTimespec(duration);
  while (nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
}

// Waits until the process of the pidfd has ended, but at most for the limit.
// Safe after fork in a process with threads. REQUIRES: all signals are blocked,
// as a handler would end the wait.
void WaitForEnd(int pidfd, Duration limit) {
  pollfd ended = {.fd = pidfd, .events = POLLIN, .revents = 0};
  const timespec time = ToTimespec(limit);
  ppoll(&ended, 1, &time, nullptr);
}

// Forks a child in which all signals are blocked.
pid_t ForkWithBlockedSignals() {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t child = fork();
  if (child != 0) pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return child;
}

// Uses a thread of the process itself. The thread ends with the process, so it
// can never kill a later process with the same id.
void KillSelfAfter(Duration delay) {
  std::thread([delay] {
    SleepFor(delay);
    kill(getpid(), SIGKILL);
  }).detach();
}

// Closes all descriptors except these two.
void CloseAllBut(unsigned one, unsigned other) {
  const unsigned low = std::min(one, other);
  const unsigned high = std::max(one, other);
  if (low > 0) syscall(SYS_close_range, 0U, low - 1, 0U);
  if (high > low + 1) syscall(SYS_close_range, low + 1, high - 1, 0U);
  syscall(SYS_close_range, high + 1, ~0U, 0U);
}

// Forks a grandchild, which nobody has to reap. The grandchild stops this
// process and later wakes it: as one process does both, the wake-up cannot come
// before the stop. If this process is killed meanwhile, the grandchild ends at
// once, so that it does not outlive the run. It keeps none of this process's
// files open, as an open descriptor would hold a lock. It blocks signals, as a
// signal to the process group (Ctrl-C) would end the grandchild or its wait;
// this process gets such a signal once it is awake. Returns when the grandchild
// has ended. Makes only calls that are safe after fork in a process with
// threads.
void StopSelfFor(Duration duration) {
  const auto self = static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0U));
  CHECK(self >= 0, fmt::format("pidfd_open: {}", std::strerror(errno)));
  std::array<int, 2> over{};  // a pipe; closed once the process is awake
  CHECK(pipe2(over.data(), O_CLOEXEC) == 0,
        fmt::format("pipe2: {}", std::strerror(errno)));
  const pid_t child = ForkWithBlockedSignals();
  CHECK(child >= 0, fmt::format("fork: {}", std::strerror(errno)));
  if (child == 0) {
    if (fork() != 0) _exit(0);
    CloseAllBut(static_cast<unsigned>(self), static_cast<unsigned>(over[1]));
    syscall(SYS_pidfd_send_signal, self, SIGSTOP, nullptr, 0U);
    WaitForEnd(self, duration);
    syscall(SYS_pidfd_send_signal, self, SIGCONT, nullptr, 0U);
    _exit(0);
  }
  close(self);
  close(over[1]);
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  char nothing = 0;
  while (read(over[0], &nothing, 1) < 0 && errno == EINTR) {
  }
  close(over[0]);
}

void MakeEmptyFile(const std::string& path) {
  CHECK(!path.empty(), "a notice by file or http, and no place for it");
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  CHECK(file >= 0, fmt::format("{}: {}", path, std::strerror(errno)));
  close(file);
}

}  // namespace

void ProcessEffects::CrashNow(int exit_code) { _exit(exit_code); }

void ProcessEffects::AbortNow(std::string_view why) {
  const std::string line = fmt::format("{}\n", why);
  // The process aborts even if the line cannot be written.
  [[maybe_unused]] const ssize_t written =
      write(STDERR_FILENO, line.data(), line.size());
  std::abort();
}

void ProcessEffects::KillNow() {
  kill(getpid(), SIGKILL);
  // Waits until the signal is delivered to this thread.
  while (true) pause();
}

void ProcessEffects::KillSoon(Duration latency) { KillSelfAfter(latency); }

// Kills nothing if the launcher has ended: this process then has another
// parent.
void ProcessEffects::KillLauncher() {
  if (getppid() == launcher_) kill(launcher_, SIGKILL);
}

void ProcessEffects::TerminateLauncher() {
  if (getppid() == launcher_) kill(launcher_, SIGTERM);
}

void ProcessEffects::HangForever() {
  while (true) pause();  // Returns after each signal that is handled.
}

void ProcessEffects::Sleep(Duration duration) { SleepFor(duration); }

void ProcessEffects::StopSelf(Duration duration) {
  if (duration > Duration::zero()) return StopSelfFor(duration);
  kill(getpid(), SIGSTOP);
}

void ProcessEffects::DeliverNotice(Duration grace, NoticeBy by) {
  KillSelfAfter(grace);
  switch (by) {
    case NoticeBy::kSignal:
      kill(getpid(), SIGTERM);
      return;
    case NoticeBy::kFile:
      return MakeEmptyFile(notices_.file);
    case NoticeBy::kHttp:
      return MakeEmptyFile(notices_.http);
  }
}

void ProcessEffects::PowerLossNow() {
  CHECK(false, "a power loss in real processes: the plan is not for them");
  std::abort();
}

void ProcessEffects::ApplyNetworkFault(const Fault& fault) {
  CHECK(network_ != nullptr, fault.id + ": a network fault without a network");
  network_->BeginFault(fault);
}

void ProcessEffects::JumpCalendar(Duration by) {
  CHECK(clock_ != nullptr, "there is no calendar to make jump");
  clock_->Jump(by);
}

FiredFaultFiles::FiredFaultFiles(std::string directory)
    : directory_(std::move(directory)) {}

bool FiredFaultFiles::MarkFired(const std::string& key) {
  const std::string path = directory_ + "/" + key;
  const int file =
      open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (file >= 0) {
    close(file);
    return true;
  }
  // Any other error ends the process: without the mark, faults would happen
  // twice or never.
  CHECK(errno == EEXIST, fmt::format("{}: {}", path, std::strerror(errno)));
  return false;
}

bool FiredFaultFiles::HasFired(const std::string& key) {
  return access((directory_ + "/" + key).c_str(), F_OK) == 0;
}

}  // namespace gauntlet
