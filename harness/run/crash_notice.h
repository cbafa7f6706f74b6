// Says what a thread was at when the program crashes in it. What is simulated
// runs in the harness's own process: an engine that goes astray takes it along.
#ifndef GAUNTLET_HARNESS_RUN_CRASH_NOTICE_H_
#define GAUNTLET_HARNESS_RUN_CRASH_NOTICE_H_

#include <string>

namespace gauntlet {

// From now on, on SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT, where nobody
// else has a handler: one line on standard error, "gauntlet: crashed (…) in …",
// and then what the signal does by itself.
void InstallCrashNotice();

// What the thread is at, as long as this lives; then what it was at before.
class AtWork {
 public:
  // Of one line.
  explicit AtWork(std::string what);
  ~AtWork();
  AtWork(const AtWork&) = delete;
  AtWork& operator=(const AtWork&) = delete;

 private:
  const std::string what_;
  const std::string* const before_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_CRASH_NOTICE_H_
