// The only kind of concurrency that the engine uses: tasks.
//
// A task is a thread in one world and a fiber in another, so engine code may
// hold a std::mutex only for a few plain statements, never during a call that
// can block (anything in engine/world/). No destructor may block: a Task is
// joined by calling Join, and a process that is killed unwinds its tasks
// without running them further.
#ifndef GAUNTLET_ENGINE_WORLD_TASKS_H_
#define GAUNTLET_ENGINE_WORLD_TASKS_H_

#include <functional>
#include <memory>
#include <string>

#include "engine/world/clock.h"

namespace gauntlet {

class Task {
 public:
  // REQUIRES: joined, unless the process is ending.
  virtual ~Task() = default;
  // Waits until the task's body has returned. Call it at most once.
  virtual void Join() = 0;
};

// A resettable latch: level-triggered, any number of waiters.
class Event {
 public:
  virtual ~Event() = default;
  virtual void Set() = 0;
  virtual void Reset() = 0;
  // Returns true once the event is set; false if it is not set at the deadline.
  // If the event is set already, returns true even after the deadline.
  virtual bool WaitUntil(Time deadline) = 0;
};

class Tasks {
 public:
  virtual ~Tasks() = default;
  virtual std::unique_ptr<Task> Spawn(std::string name,
                                      std::function<void()> body) = 0;
  virtual std::unique_ptr<Event> NewEvent() = 0;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_WORLD_TASKS_H_
