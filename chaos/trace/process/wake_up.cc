#include "chaos/trace/process/wake_up.h"

#include <cerrno>
#include <csignal>
#include <ctime>

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gauntlet {
namespace {

// Makes only calls that are allowed in a child of a process with threads.
[[noreturn]] void SleepUntil(int64_t at) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // Signal handlers of the parent must not run in this process.
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  // Closes all descriptors: other processes wait for pipes to close.
  syscall(SYS_close_range, 0U, ~0U, 0U);
  const timespec time = {.tv_sec = at / 1'000'000'000,
                         .tv_nsec = at % 1'000'000'000};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr) ==
         EINTR) {
  }
  _exit(0);
}

}  // namespace

void WakeUp::Set(int64_t at) {
  if (sleeper_ != 0 && at_ == at) return;
  Clear();
  const pid_t child = fork();
  if (child == 0) SleepUntil(at);
  if (child < 0) return;
  sleeper_ = child;
  at_ = at;
}

void WakeUp::Clear() {
  if (sleeper_ == 0) return;
  kill(sleeper_, SIGKILL);
  while (waitpid(sleeper_, nullptr, __WALL) < 0 && errno == EINTR) {
  }
  sleeper_ = 0;
}

bool WakeUp::Consume(pid_t ended) {
  if (sleeper_ == 0 || ended != sleeper_) return false;
  sleeper_ = 0;
  return true;
}

}  // namespace gauntlet
