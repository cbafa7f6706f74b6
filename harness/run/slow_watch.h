// Reports cases that still run when they should have ended.
#ifndef GAUNTLET_HARNESS_RUN_SLOW_WATCH_H_
#define GAUNTLET_HARNESS_RUN_SLOW_WATCH_H_

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "engine/world/clock.h"

namespace gauntlet {

// Uses wall time. Begins and Ends may be called from any thread.
class SlowWatch {
 public:
  // `tell` is called on a thread of the watch, at most once per item, and never
  // after Ends(item) has returned. It must not call this object.
  explicit SlowWatch(std::function<void(size_t item)> tell);

  // An item is slow once it has run for `limit`.
  void Begins(size_t item, Duration limit);
  void Ends(size_t item);

 private:
  using WallTime = std::chrono::steady_clock::time_point;
  void Watch(const std::stop_token& stop);

  const std::function<void(size_t)> tell_;
  std::mutex mutex_;  // guards all below
  std::condition_variable_any changed_;
  std::map<size_t, WallTime> slow_at_;  // items not reported yet
  std::jthread thread_;                 // last: it is stopped first
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_SLOW_WATCH_H_
