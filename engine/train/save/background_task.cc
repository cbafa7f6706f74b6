#include "engine/train/save/background_task.h"

#include <utility>

#include "engine/check.h"

namespace gauntlet {

BackgroundTask::BackgroundTask(World& world, std::string name)
    : world_(&world), name_(std::move(name)), ended_(world.tasks.NewEvent()) {}

BackgroundTask::~BackgroundTask() = default;

void BackgroundTask::Start(std::function<void()> work) {
  CHECK(task_ == nullptr, name_ + ": one at a time");
  done_ = false;
  ended_->Reset();
  task_ = world_->tasks.Spawn(name_, [this, work = std::move(work)] {
    work();
    done_ = true;
    ended_->Set();
  });
}

bool BackgroundTask::WaitUntil(Time deadline) {
  if (task_ == nullptr) return true;
  if (!ended_->WaitUntil(deadline)) return false;
  task_->Join();
  task_.reset();
  return true;
}

}  // namespace gauntlet
