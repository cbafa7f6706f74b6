// A first-in first-out queue between tasks, unbounded.
#ifndef GAUNTLET_ENGINE_WORLD_QUEUE_H_
#define GAUNTLET_ENGINE_WORLD_QUEUE_H_

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "engine/world/tasks.h"

namespace gauntlet {

// Safe from any task. After Close, Push has no effect and Pop returns the
// remaining items.
template <typename T>
class Queue {
 public:
  explicit Queue(Tasks& tasks) : ready_(tasks.NewEvent()) {}

  void Push(T item) {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    items_.push_back(std::move(item));
    ready_->Set();
  }

  // Returns the oldest item; nullopt at the deadline, or immediately if the
  // queue is closed and empty (closed() distinguishes the two).
  std::optional<T> Pop(Time deadline) {
    while (true) {
      {
        const std::lock_guard lock(mutex_);
        if (!items_.empty()) {
          std::optional<T> item(std::move(items_.front()));
          items_.pop_front();
          if (items_.empty() && !closed_) ready_->Reset();
          return item;
        }
        if (closed_) return std::nullopt;
      }
      if (!ready_->WaitUntil(deadline)) return std::nullopt;
    }
  }

  void Close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    ready_->Set();
  }

  bool closed() const {
    const std::lock_guard lock(mutex_);
    return closed_;
  }

 private:
  mutable std::mutex mutex_;
  std::deque<T> items_;
  bool closed_ = false;
  std::unique_ptr<Event> ready_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_WORLD_QUEUE_H_
