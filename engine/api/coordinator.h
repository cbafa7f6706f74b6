// Tasks that live and end together: the first of them to fail ends all.
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

// One task owns it; ShouldStop and RequestStop may come from any.
class Coordinator {
 public:
  explicit Coordinator(World& world);
  // REQUIRES: Join was called after the last Loop.
  ~Coordinator();

  // Calls `body` in a task of its own, now and then every `period`, until all
  // stop. An error of it stops all. What it refers to outlives Join, or the
  // process where Join gives it up.
  void Loop(std::string name, Duration period, std::function<Status()> body);

  bool ShouldStop() const;
  // Ok: in good order. The first error is what Join returns.
  void RequestStop(const Status& why);

  // Stops all and waits for them. kDeadlineExceeded names those that are still
  // busy after `grace`: they are given up, and the process should end.
  Status Join(Duration grace);

 private:
  struct Shared;
  struct Service;

  World* world_;
  std::shared_ptr<Shared> shared_;  // with the tasks, which may outlive this
  std::vector<Service> services_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_API_COORDINATOR_H_
