// Makes waitpid(-1) return at a given time, by a child process that ends then.
// Uses no signals and no threads of the caller.
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

  // Sets the time, in nanoseconds of CLOCK_MONOTONIC. The wake-up may come
  // early; if no process can be created, it never comes.
  void Set(int64_t at);
  void Clear();
  // Returns true if the ended process is the child of this wake-up, which is
  // then cleared.
  bool Consume(pid_t ended);

 private:
  pid_t sleeper_ = 0;  // 0: none
  int64_t at_ = 0;
};

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_TRACE_PROCESS_WAKE_UP_H_
