#include "engine/api/coordinator.h"

#include <mutex>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {

struct Coordinator::Shared {
  std::unique_ptr<Event> stop;
  mutable std::mutex mutex;
  bool stopping = false;
  Status error;

  void RequestStop(const Status& why) {
    {
      const std::lock_guard lock(mutex);
      stopping = true;
      if (error.ok()) error = why;
    }
    stop->Set();
  }
};

struct Coordinator::Service {
  std::string name;
  std::shared_ptr<Event> ended;
  std::unique_ptr<Task> task;
};

Coordinator::Coordinator(World& world)
    : world_(&world), shared_(std::make_shared<Shared>()) {
  shared_->stop = world.tasks.NewEvent();
}

Coordinator::~Coordinator() = default;

void Coordinator::Loop(std::string name, Duration period,
                       std::function<Status()> body) {
  const std::shared_ptr<Event> ended = world_->tasks.NewEvent();
  auto run = [shared = shared_, ended, period, name, clock = &world_->clock,
              body = std::move(body)] {
    Time next = clock->Now();
    while (!shared->stop->WaitUntil(next)) {
      next += period;
      const Status status = body();
      if (!status.ok()) shared->RequestStop(Annotate(status, name));
    }
    ended->Set();
  };
  Service service = {.name = name, .ended = ended};
  service.task = world_->tasks.Spawn(std::move(name), std::move(run));
  services_.push_back(std::move(service));
}

bool Coordinator::ShouldStop() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->stopping;
}

void Coordinator::RequestStop(const Status& why) { shared_->RequestStop(why); }

Status Coordinator::Join(Duration grace) {
  RequestStop(OkStatus());
  const Time deadline = world_->clock.Now() + grace;
  std::vector<std::string> busy;
  for (Service& service : services_) {
    if (service.ended->WaitUntil(deadline)) {
      service.task->Join();
    } else {
      busy.push_back(service.name);
      // A task cannot be ended from outside, so it keeps running, detached.
      static_cast<void>(service.task.release());
    }
  }
  services_.clear();
  const std::lock_guard lock(shared_->mutex);
  if (!shared_->error.ok() || busy.empty()) return shared_->error;
  return DeadlineExceeded(fmt::format(
      "{} still busy {:.0f} s after the stop", fmt::join(busy, ", "),
      std::chrono::duration<double>(grace).count()));
}

}  // namespace gauntlet
