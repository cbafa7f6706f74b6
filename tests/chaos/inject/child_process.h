// Runs a body in a child process and reports how it ended.
#ifndef GAUNTLET_TESTS_CHAOS_INJECT_CHILD_PROCESS_H_
#define GAUNTLET_TESTS_CHAOS_INJECT_CHILD_PROCESS_H_

#include <cstdlib>
#include <string>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gauntlet {

// Time after which SIGALRM kills a child, in seconds.
inline constexpr unsigned kChildSeconds = 20;

template <typename Body>
pid_t StartChild(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(kChildSeconds);
    body();
    _exit(0);
  }
  return child;
}

// Waits for the child as waitpid with these options does, and returns "exit
// 70", "signal 9" or "stopped 19".
inline std::string WaitFor(pid_t child, int options = 0) {
  int status = 0;
  if (waitpid(child, &status, options) != child) return "no such child";
  if (WIFEXITED(status)) return fmt::format("exit {}", WEXITSTATUS(status));
  if (WIFSTOPPED(status)) return fmt::format("stopped {}", WSTOPSIG(status));
  return fmt::format("signal {}", WTERMSIG(status));
}

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_CHAOS_INJECT_CHILD_PROCESS_H_
