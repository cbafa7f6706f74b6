// Tasks as threads of this process.
#ifndef GAUNTLET_ENGINE_REAL_POSIX_THREAD_TASKS_H_
#define GAUNTLET_ENGINE_REAL_POSIX_THREAD_TASKS_H_

#include <functional>
#include <memory>
#include <string>

#include "engine/world/tasks.h"

namespace gauntlet {

// Deadlines are times of SystemClock. A thread is named by the first 15 bytes
// of the task's name.
class ThreadTasks final : public Tasks {
 public:
  std::unique_ptr<Task> Spawn(std::string name,
                              std::function<void()> body) override;
  std::unique_ptr<Event> NewEvent() override;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_REAL_POSIX_THREAD_TASKS_H_
