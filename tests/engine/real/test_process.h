// Processes that tests start and observe.
#ifndef GAUNTLET_TESTS_ENGINE_REAL_TEST_PROCESS_H_
#define GAUNTLET_TESTS_ENGINE_REAL_TEST_PROCESS_H_

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "engine/real/posix/system_clock.h"
#include "engine/real/process/child_process.h"
#include "engine/real/process/worker_environment.h"
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace gauntlet {

// Returns a deadline that is late enough for a loaded machine. No test that
// passes waits until then.
inline Time Soon() { return SystemClock().Now() + std::chrono::seconds(60); }
inline Time In(Duration time) { return SystemClock().Now() + time; }

// Waits, and returns true iff the process, a child or not, has ended.
inline bool EndsSoon(pid_t pid) {
  const Descriptor pidfd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (!pidfd.valid()) return true;
  pollfd wait = {.fd = pidfd.get(), .events = POLLIN, .revents = 0};
  return poll(&wait, 1, 60000) == 1;
}

// A real_test_child with these arguments, killed at the end of the test.
class TestProcess {
 public:
  // `log_file` receives the child's output; "": the child inherits the test's.
  explicit TestProcess(std::vector<std::string> arguments,
                       const std::string& log_file = {})
      : process_(StartChild({.path = REAL_TEST_CHILD,
                             .arguments = std::move(arguments),
                             .environment = ProcessEnvironment(),
                             .log_file = log_file,
                             .kept_descriptors = {}})
                     .value()) {}
  ~TestProcess() {
    if (process_.pid != 0) Kill();
  }
  TestProcess(const TestProcess&) = delete;
  TestProcess& operator=(const TestProcess&) = delete;

  pid_t pid() const { return process_.pid; }
  void Send(int signal) { SendSignal(process_, signal); }
  ChildEnd Await() {
    const ChildEnd end = AwaitEnd(process_);
    process_.pid = 0;
    return end;
  }
  ChildEnd Kill() {
    Send(SIGKILL);
    return Await();
  }
  // Reads the process's output on its descriptor 3 up to the next line feed.
  std::string ReadLine() {
    std::string line;
    char c = 0;
    pollfd wait = {.fd = process_.socket.get(), .events = POLLIN, .revents = 0};
    while (poll(&wait, 1, 60000) == 1 && read(wait.fd, &c, 1) == 1) {
      if (c == '\n') break;
      line += c;
    }
    return line;
  }

 private:
  ChildProcess process_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_ENGINE_REAL_TEST_PROCESS_H_
