// Reports what a thread was doing when the program crashed in it. Simulated
// code runs in the harness's own process, so a crash of the engine ends the
// harness too.
#ifndef GAUNTLET_HARNESS_RUN_CRASH_NOTICE_H_
#define GAUNTLET_HARNESS_RUN_CRASH_NOTICE_H_

#include <string>

namespace gauntlet {

// Installs a handler for SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT, except
// for those that have a handler already. It prints one line to standard error,
// "gauntlet: crashed (…) in …"; the signal then has its usual effect.
void InstallCrashNotice();

// Sets the thread's current work for the lifetime of this object, then restores
// the previous one.
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
