// Clock, tasks and events of one simulated process.
#ifndef GAUNTLET_CHAOS_SIM_SIM_TASKS_H_
#define GAUNTLET_CHAOS_SIM_SIM_TASKS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "chaos/sim/scheduler.h"
#include "engine/world/clock.h"
#include "engine/world/tasks.h"

namespace gauntlet {

class SimClock final : public Clock {
 public:
  // `unix_offset_seconds` is the error of the machine's calendar clock.
  SimClock(Scheduler& scheduler, const int64_t& unix_offset_seconds)
      : scheduler_(scheduler), unix_offset_seconds_(unix_offset_seconds) {}
  Time Now() const override { return scheduler_.now(); }
  int64_t UnixSeconds() const override;
  void SleepUntil(Time deadline) override;

 private:
  Scheduler& scheduler_;
  const int64_t& unix_offset_seconds_;
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

#endif  // GAUNTLET_CHAOS_SIM_SIM_TASKS_H_
