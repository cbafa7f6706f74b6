#include "harness/run/slow_watch.h"

#include <algorithm>
#include <utility>

namespace gauntlet {

SlowWatch::SlowWatch(std::function<void(size_t)> tell)
    : tell_(std::move(tell)),
      thread_([this](const std::stop_token& stop) { Watch(stop); }) {}

void SlowWatch::Begins(size_t item, Duration limit) {
  const std::lock_guard lock(mutex_);
  slow_at_[item] = std::chrono::steady_clock::now() + limit;
  changed_.notify_one();
}

void SlowWatch::Ends(size_t item) {
  const std::lock_guard lock(mutex_);
  slow_at_.erase(item);
}

void SlowWatch::Watch(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    const auto next = std::ranges::min_element(
        slow_at_, {}, [](const auto& item) { return item.second; });
    if (next == slow_at_.end()) {
      changed_.wait(lock, stop, [this] { return !slow_at_.empty(); });
      continue;
    }
    const WallTime time = next->second;
    if (std::chrono::steady_clock::now() < time) {
      // Waits for the time, or for a new item that becomes slow earlier.
      changed_.wait_until(lock, stop, time, [&] {
        return std::ranges::any_of(
            slow_at_, [&](const auto& item) { return item.second < time; });
      });
      continue;
    }
    tell_(next->first);
    slow_at_.erase(next);
  }
}

}  // namespace gauntlet
