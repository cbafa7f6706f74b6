#include "engine/train/background_task.h"

#include <chrono>
#include <utility>

#include "engine/check.h"
#include <fmt/format.h>

namespace gauntlet {

BackgroundTask::BackgroundTask(World& world, std::string name)
    : world_(&world), name_(std::move(name)), ended_(world.tasks.NewEvent()) {}

BackgroundTask::~BackgroundTask() = default;

void BackgroundTask::Start(std::function<void()> work) {
  CHECK(task_ == nullptr, name_ + ": one at a time");
  done_ = false;
  started_at_ = world_->clock.Now();
  ended_->Reset();
  task_ = world_->tasks.Spawn(name_, [this, work = std::move(work)] {
    work();
    done_ = true;
    ended_->Set();
  });
}

bool BackgroundTask::IsOverdue(Duration limit) const {
  return is_joinable() && world_->clock.Now() > started_at_ + limit;
}

bool BackgroundTask::WaitUntil(Time deadline) {
  if (task_ == nullptr) return true;
  if (!ended_->WaitUntil(deadline)) return false;
  task_->Join();
  task_.reset();
  return true;
}

Status BackgroundTask::WaitWithin(Duration limit, const std::string& what) {
  if (WaitUntil(started_at_ + limit)) return OkStatus();
  world_->events.Emit({.kind = EventKind::kWorkerLost,
                       .detail = "its own save",
                       .reason = Reason::kDeadline,
                       .limit_ns = limit.count()});
  return DeadlineExceeded(
      fmt::format("{} has not ended within {:.1f} s", what,
                  std::chrono::duration<double>(limit).count()));
}

}  // namespace gauntlet
