#include "chaos/sim/scheduler/sim_tasks.h"

#include <utility>

#include "engine/check.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// Start of the simulated wall clock: 2026-01-01 00:00:00 UTC.
constexpr int64_t kUnixBegins = 1'767'225'600;

class SimEvent final : public Event {
 public:
  explicit SimEvent(Scheduler& scheduler) : scheduler_(scheduler) {}

  // Does not switch fibers, as callers may hold a mutex.
  void Set() override {
    set_ = true;
    scheduler_.WakeAll(waiters_);
  }

  void Reset() override { set_ = false; }

  bool WaitUntil(Time deadline) override {
    if (set_) scheduler_.Wait(nullptr, scheduler_.now(), {});
    while (!set_) {
      const WaitResult result =
          scheduler_.Wait(&waiters_, deadline, {.verb = "waits for an event"});
      if (result == WaitResult::kDeadline) break;
    }
    return set_;
  }

 private:
  Scheduler& scheduler_;
  bool set_ = false;
  WaitList waiters_;
};

class SimTask final : public Task {
 public:
  SimTask(Scheduler& scheduler, const FiberGroup& group,
          std::shared_ptr<TaskState> state)
      : scheduler_(scheduler), group_(group), state_(std::move(state)) {}

  ~SimTask() override {
    CHECK(joined_ || group_.killed,
          fmt::format("task '{}' is destroyed before it was joined",
                      state_->name));
  }

  void Join() override {
    CHECK(!joined_, fmt::format("task '{}' is joined twice", state_->name));
    while (!state_->done) {
      const WaitResult result =
          scheduler_.Wait(&state_->joiners, kNever,
                          {.verb = "joins task", .what = &state_->name});
      if (result == WaitResult::kDeadline) break;  // being unwound
    }
    joined_ = true;
  }

 private:
  Scheduler& scheduler_;
  const FiberGroup& group_;
  std::shared_ptr<TaskState> state_;
  bool joined_ = false;
};

}  // namespace

int64_t SimClock::UnixSeconds() const {
  const auto now = scheduler_.now().time_since_epoch();
  return kUnixBegins + unix_offset_seconds_ +
         std::chrono::duration_cast<std::chrono::seconds>(now).count();
}

void SimClock::SleepUntil(Time deadline) {
  scheduler_.Wait(nullptr, deadline, {.verb = "sleeps"});
}

std::unique_ptr<Task> SimTasks::Spawn(std::string name,
                                      std::function<void()> body) {
  auto state = std::make_shared<TaskState>();
  state->name = std::move(name);
  if (group_.killed) {
    state->done = true;
  } else {
    scheduler_.Spawn(group_, state, std::move(body));
  }
  return std::make_unique<SimTask>(scheduler_, group_, std::move(state));
}

std::unique_ptr<Event> SimTasks::NewEvent() {
  return std::make_unique<SimEvent>(scheduler_);
}

}  // namespace gauntlet
