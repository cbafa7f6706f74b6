#include "engine/math/thread_pool.h"

#include "engine/check.h"

namespace gauntlet {

ThreadPool::ThreadPool(int threads) {
  CHECK(threads >= 1, "a pool has at least the calling thread");
  for (int index = 1; index < threads; ++index) {
    workers_.emplace_back([this, index] { Work(index); });
  }
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  start_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::Run(const std::function<void(int)>& task) {
  if (workers_.empty()) {
    task(0);
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    task_ = &task;
    running_ = static_cast<int>(workers_.size());
    ++round_;
  }
  start_.notify_all();
  task(0);
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return running_ == 0; });
}

void ThreadPool::Work(int index) {
  uint64_t seen = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    start_.wait(lock, [&] { return stopping_ || round_ != seen; });
    if (stopping_) return;
    seen = round_;
    const std::function<void(int)>& task = *task_;
    lock.unlock();
    task(index);
    lock.lock();
    if (--running_ == 0) done_.notify_one();
  }
}

}  // namespace gauntlet
