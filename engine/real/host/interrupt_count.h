// Counts the interrupts (SIGINT) of this process.
#ifndef GAUNTLET_ENGINE_REAL_HOST_INTERRUPT_COUNT_H_
#define GAUNTLET_ENGINE_REAL_HOST_INTERRUPT_COUNT_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>

#include "engine/world/clock.h"

namespace gauntlet {

// SIGINTs within this time of the first one count as one interrupt. Each later
// SIGINT counts as another. One Ctrl-C may cause several SIGINTs: a terminal
// and a script may both forward it, and a wrapper such as `timeout` signals
// both its child and the group of its child. No person presses a key again so
// soon.
inline constexpr Duration kOneInterrupt = std::chrono::milliseconds(200);

// Add() may be called by signal handlers: it uses lock-free atomics only.
class InterruptCount {
 public:
  // Adds a SIGINT that arrived at `now`. Returns true iff it does not belong to
  // an interrupt that is already counted.
  bool Add(Time now) {
    const int64_t now_ns = now.time_since_epoch().count();
    int64_t first_ns = kNone;
    if (!first_ns_.compare_exchange_strong(first_ns, now_ns) &&
        now_ns - first_ns < Duration(kOneInterrupt).count()) {
      return false;
    }
    count_.fetch_add(1, std::memory_order_relaxed);
    return true;
  }
  int count() const { return count_.load(std::memory_order_relaxed); }

 private:
  static constexpr int64_t kNone = std::numeric_limits<int64_t>::min();
  static_assert(std::atomic<int>::is_always_lock_free &&
                std::atomic<int64_t>::is_always_lock_free);

  std::atomic<int64_t> first_ns_{kNone};  // time of the first SIGINT, by
                                          // SystemClock
  std::atomic<int> count_{0};
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_REAL_HOST_INTERRUPT_COUNT_H_
