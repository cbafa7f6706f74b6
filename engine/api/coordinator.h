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

// Used by one task, except for ShouldStop and RequestStop, which are
// thread-safe.
class Coordinator {
 public:
  explicit Coordinator(World& world);
  // REQUIRES: Join was called after the last Loop.
  ~Coordinator();

  // Calls `body` in a task of its own, immediately and then every `period`,
  // until all tasks stop. If it returns an error, all tasks stop. The objects
  // that `body` refers to outlive Join; if Join gives the task up, they outlive
  // the process.
  void Loop(std::string name, Duration period, std::function<Status()> body);

  bool ShouldStop() const;
  // Stops all tasks; Ok: without an error. Join returns the first error.
  void RequestStop(const Status& why);

  // Stops all tasks and waits for them. kDeadlineExceeded names the tasks that
  // are still busy after `grace`: they are given up, and the process should
  // exit.
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
