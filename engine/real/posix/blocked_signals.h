// Blocks signals in the calling thread.
#ifndef GAUNTLET_ENGINE_REAL_POSIX_BLOCKED_SIGNALS_H_
#define GAUNTLET_ENGINE_REAL_POSIX_BLOCKED_SIGNALS_H_

#include <signal.h>

namespace gauntlet {

// While this object exists, blocks signals in the thread that created it, and
// in threads which that thread starts. A signal that arrives meanwhile is
// delivered when the object is destroyed, unless another thread receives it.
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
