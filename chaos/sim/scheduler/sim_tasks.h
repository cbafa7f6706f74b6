// Clock, tasks and events of one simulated process.
#ifndef GAUNTLET_CHAOS_SIM_SCHEDULER_SIM_TASKS_H_
#define GAUNTLET_CHAOS_SIM_SCHEDULER_SIM_TASKS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "chaos/sim/scheduler/scheduler.h"
#include "engine/world/clock.h"
#include "engine/world/tasks.h"

namespace gauntlet {

class SimClock final : public Clock {
 public:
  explicit SimClock(Scheduler& scheduler) : scheduler_(scheduler) {}
  Time Now() const override { return scheduler_.now(); }
  int64_t UnixSeconds() const override;
  void SleepUntil(Time deadline) override;
  // Moves the wall clock of this process by `seconds`.
  void Jump(int64_t seconds) { unix_offset_seconds_ += seconds; }

 private:
  Scheduler& scheduler_;
  int64_t unix_offset_seconds_ = 0;
};

class SimTasks final : public Tasks {
 public:
  SimTasks(Scheduler& scheduler, FiberGroup& group)
      : scheduler_(scheduler), group_(group) {}
  std::unique_ptr<Task> Spawn(std::string name,
                              std::function<void()> body) override;
  std::unique_ptr<Event> NewEvent() override;

 private:
  Scheduler& scheduler_;
  FiberGroup& group_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_SIM_SCHEDULER_SIM_TASKS_H_
