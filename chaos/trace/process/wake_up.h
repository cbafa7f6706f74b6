// A time at which waitpid(-1) returns: a child process that ends then. Signals
// and threads of the caller are left alone.
#ifndef GAUNTLET_CHAOS_TRACE_PROCESS_WAKE_UP_H_
#define GAUNTLET_CHAOS_TRACE_PROCESS_WAKE_UP_H_

#include <cstdint>

#include <sys/types.h>

namespace gauntlet {

class WakeUp {
 public:
  WakeUp() = default;
  WakeUp(const WakeUp&) = delete;
  WakeUp& operator=(const WakeUp&) = delete;
  ~WakeUp() { Clear(); }

  // Nanoseconds of CLOCK_MONOTONIC. It may come early; where no process can be
  // made, not at all.
  void Set(int64_t at);
  void Clear();
  // True if waitpid returned this one, which is over then.
  bool Consume(pid_t ended);

 private:
  pid_t sleeper_ = 0;  // 0: none
  int64_t at_ = 0;
};

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_TRACE_PROCESS_WAKE_UP_H_
