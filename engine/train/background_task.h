// Runs one function at a time in a task of its own.
#ifndef GAUNTLET_ENGINE_TRAIN_BACKGROUND_TASK_H_
#define GAUNTLET_ENGINE_TRAIN_BACKGROUND_TASK_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "engine/status.h"
#include "engine/world/world.h"

namespace gauntlet {

// One task makes all calls. That task may read the results of `work` once
// WaitUntil has returned true.
class BackgroundTask {
 public:
  BackgroundTask(World& world, std::string name);
  // REQUIRES: no work runs, or the process is about to exit.
  ~BackgroundTask();
  BackgroundTask(const BackgroundTask&) = delete;
  BackgroundTask& operator=(const BackgroundTask&) = delete;

  // REQUIRES: is_joinable() is false. The objects that `work` refers to outlive
  // it.
  void Start(std::function<void()> work);
  // True from Start until WaitUntil returns true.
  bool is_joinable() const { return task_ != nullptr; }
  // True if `work` has returned. Neither waits nor lets other tasks run.
  bool is_done() const { return done_; }
  // Time of the last Start.
  Time started_at() const { return started_at_; }
  // True if is_joinable(), and more than `limit` has passed since Start.
  bool IsOverdue(Duration limit) const;
  // Waits until the work is done, and joins its task. Returns false at the
  // deadline.
  bool WaitUntil(Time deadline);
  // As WaitUntil, with the deadline `limit` after Start. If the work is not
  // done by then, emits kWorkerLost about this worker, and returns
  // kDeadlineExceeded. `what` names the work in the message.
  Status WaitWithin(Duration limit, const std::string& what);

 private:
  World* world_;
  std::string name_;
  std::unique_ptr<Event> ended_;
  std::unique_ptr<Task> task_;
  std::atomic<bool> done_ = true;
  Time started_at_{};
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_BACKGROUND_TASK_H_
