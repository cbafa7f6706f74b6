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

// Calls only what a child of a process with threads may.
[[noreturn]] void SleepUntil(int64_t at) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // Handlers of the parent's are not for this process.
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  // Others wait for the end of pipes.
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
