// Blocks signals in the calling thread.
#ifndef GAUNTLET_ENGINE_REAL_POSIX_BLOCKED_SIGNALS_H_
#define GAUNTLET_ENGINE_REAL_POSIX_BLOCKED_SIGNALS_H_

#include <signal.h>

namespace gauntlet {

// Blocks signals in the calling thread, and in threads that it starts, until it
// goes out of scope. A signal that arrives meanwhile is delivered then, unless
// another thread receives it.
class BlockedSignals {
 public:
  // Blocks all signals.
  BlockedSignals() {
    sigset_t all = {};
    sigfillset(&all);
    Block(all);
  }
  explicit BlockedSignals(int signal) {
    sigset_t one = {};
    sigemptyset(&one);
    sigaddset(&one, signal);
    Block(one);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &former_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  void Block(const sigset_t& signals) {
    pthread_sigmask(SIG_BLOCK, &signals, &former_);
  }

  sigset_t former_ = {};
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_REAL_POSIX_BLOCKED_SIGNALS_H_
