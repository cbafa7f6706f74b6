// One piece of work at a time, done by a task beside the one that gave it.
#ifndef GAUNTLET_ENGINE_TRAIN_SAVE_BACKGROUND_TASK_H_
#define GAUNTLET_ENGINE_TRAIN_SAVE_BACKGROUND_TASK_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "engine/world/world.h"

namespace gauntlet {

// One task uses it. What the work wrote may be read once WaitUntil was true.
class BackgroundTask {
 public:
  BackgroundTask(World& world, std::string name);
  // REQUIRES: nothing runs, unless the process is going away.
  ~BackgroundTask();
  BackgroundTask(const BackgroundTask&) = delete;
  BackgroundTask& operator=(const BackgroundTask&) = delete;

  // REQUIRES: nothing runs. The objects that `work` refers to outlive it.
  void Start(std::function<void()> work);
  // Started, and not yet waited for to its end.
  bool runs() const { return task_ != nullptr; }
  // Returns true if the work is done. Neither waits nor lets other tasks run.
  bool is_done() const { return done_; }
  // Waits for the end, and takes the task back. Returns false at the deadline.
  bool WaitUntil(Time deadline);

 private:
  World* world_;
  std::string name_;
  std::unique_ptr<Event> ended_;
  std::unique_ptr<Task> task_;
  std::atomic<bool> done_ = true;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_SAVE_BACKGROUND_TASK_H_
