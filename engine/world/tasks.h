// Concurrency, as the engine sees it: the only concurrency there is.
//
// A task is a thread in one world and a fiber in another, so engine code may
// hold a std::mutex only over a few plain statements, never over a call that
// can block (anything in engine/world/). No destructor may block: a Task is
// joined by name, and a process that is killed unwinds its tasks without
// running them further.
#ifndef GAUNTLET_ENGINE_WORLD_TASKS_H_
#define GAUNTLET_ENGINE_WORLD_TASKS_H_

#include <functional>
#include <memory>
#include <string>

#include "engine/world/clock.h"

namespace gauntlet {

class Task {
 public:
  // REQUIRES: joined, unless the process is going away.
  virtual ~Task() = default;
  // Waits until the body has returned. At most once.
  virtual void Join() = 0;
};

// A latch that can be reset: level-triggered, any number of waiters.
class Event {
 public:
  virtual ~Event() = default;
  virtual void Set() = 0;
  virtual void Reset() = 0;
  // True once set, false when the deadline came first. An event that is set
  // answers true even after the deadline.
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
