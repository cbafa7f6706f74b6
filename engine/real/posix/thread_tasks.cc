#include "engine/real/posix/thread_tasks.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "engine/check.h"
#include <pthread.h>

namespace gauntlet {
namespace {

constexpr size_t kThreadNameBytes = 15;  // pthread_setname_np

class ThreadTask final : public Task {
 public:
  ThreadTask(const std::string& name, std::function<void()> body)
      : thread_(std::move(body)) {
    pthread_setname_np(thread_.native_handle(),
                       name.substr(0, kThreadNameBytes).c_str());
  }
  ~ThreadTask() override {
    CHECK(!thread_.joinable(), "a task must be joined before it is destroyed");
  }
  ThreadTask(const ThreadTask&) = delete;
  ThreadTask& operator=(const ThreadTask&) = delete;

  void Join() override { thread_.join(); }

 private:
  std::thread thread_;
};

class ThreadEvent final : public Event {
 public:
  // Notifies under the mutex: a waiter may destroy the event as soon as it has
  // observed it set.
  void Set() override {
    const std::lock_guard lock(mutex_);
    set_ = true;
    changed_.notify_all();
  }

  void Reset() override {
    const std::lock_guard lock(mutex_);
    set_ = false;
  }

  bool WaitUntil(Time deadline) override {
    std::unique_lock lock(mutex_);
    if (deadline == kNever) {
      changed_.wait(lock, [this] { return set_; });
      return true;
    }
    return changed_.wait_until(
        lock,
        std::chrono::steady_clock::time_point(deadline.time_since_epoch()),
        [this] { return set_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool set_ = false;
};

}  // namespace

std::unique_ptr<Task> ThreadTasks::Spawn(std::string name,
                                         std::function<void()> body) {
  return std::make_unique<ThreadTask>(name, std::move(body));
}

std::unique_ptr<Event> ThreadTasks::NewEvent() {
  return std::make_unique<ThreadEvent>();
}

}  // namespace gauntlet
