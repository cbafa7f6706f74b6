// Tasks that run and end together: an error in one of them ends all.
#ifndef GAUNTLET_ENGINE_API_COORDINATOR_H_
#define GAUNTLET_ENGINE_API_COORDINATOR_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/status.h"
#include "engine/world/tasks.h"
#include "engine/world/world.h"

namespace gauntlet {

// One task calls all functions, except for ShouldStop and RequestStop, which
// are thread-safe.
class Coordinator {
 public:
  explicit Coordinator(World& world);
  // REQUIRES: Join was called after the last Loop.
  ~Coordinator();

  // Calls `body` in a task of its own, immediately and then every `period`,
  // until all tasks stop. If `body` returns an error, all tasks stop. The
  // objects that `body` refers to outlive Join; if Join times out while the
  // task is busy, they must exist until the process exits.
  void Loop(std::string name, Duration period, std::function<Status()> body);

  bool ShouldStop() const;
  // Requests that all tasks stop. `why` is the error that requires the stop, or
  // Ok. Join returns the first such error.
  void RequestStop(const Status& why);

  // Stops all tasks and waits for them. After `grace`, Join no longer waits for
  // tasks that are still busy, and the process should exit. Returns the first
  // error; if there is none, kDeadlineExceeded with the names of the busy
  // tasks.
  Status Join(Duration grace);

 private:
  struct Shared;
  struct Service;

  World* world_;
  std::shared_ptr<Shared> shared_;  // tasks may outlive this object
  std::vector<Service> services_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_API_COORDINATOR_H_
