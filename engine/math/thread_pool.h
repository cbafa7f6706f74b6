// Threads that wait for work. Only for code whose results do not depend on them
// (engine/math and DrawDigits); all other concurrency is tasks of the World.
#ifndef GAUNTLET_ENGINE_MATH_THREAD_POOL_H_
#define GAUNTLET_ENGINE_MATH_THREAD_POOL_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace gauntlet {

// Owns threads - 1 threads; the caller of Run is the remaining one. With one
// thread it starts none and Run is a plain call. Run may be called by one
// thread at a time.
class ThreadPool {
 public:
  // REQUIRES: threads >= 1.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }
  // Calls task(0) ... task(threads() - 1), each on a thread of its own, and
  // returns when all have returned. task(0) runs on the caller.
  void Run(const std::function<void(int)>& task);

 private:
  void Work(int index);

  std::mutex mutex_;
  std::condition_variable start_;
  std::condition_variable done_;
  const std::function<void(int)>* task_ = nullptr;
  uint64_t round_ = 0;
  int running_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_MATH_THREAD_POOL_H_
