// Reports what a thread was doing when the program crashed in it. Simulated
// code runs in the harness's own process, so a crash of the engine ends the
// harness too.
#ifndef GAUNTLET_HARNESS_RUN_CRASH_NOTICE_H_
#define GAUNTLET_HARNESS_RUN_CRASH_NOTICE_H_

#include <string>

namespace gauntlet {

// Handles SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT from now on, unless
// another handler is installed: prints one line to standard error, "gauntlet:
// crashed (…) in …", and lets the signal take its usual effect.
void InstallCrashNotice();

// Sets the current work of the thread for its own lifetime, then restores the
// earlier one.
class AtWork {
 public:
  // `what` is one line.
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
