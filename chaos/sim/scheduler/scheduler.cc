#include "chaos/sim/scheduler/scheduler.h"

#include <algorithm>
#include <utility>

#include "engine/check.h"
#include <fmt/format.h>

namespace gauntlet {

namespace {
constexpr size_t kNowhere = SIZE_MAX;
// Virtual time does not begin at zero, so that no code relies on zero.
constexpr Time kTimeBegins{std::chrono::seconds(1000)};
}  // namespace

struct Fiber {
  enum class State : uint8_t { kRunnable, kRunning, kWaiting, kParked };

  uint32_t id = 0;
  FiberGroup* group = nullptr;
  std::shared_ptr<TaskState> task;
  std::function<void()> body;             // until the fiber starts
  std::unique_ptr<FiberContext> context;  // null: not started
  State state = State::kRunnable;
  bool unwinding = false;
  WaitResult result = WaitResult::kWoken;
  WaitReason reason;

  size_t runnable_index = kNowhere;
  WaitList* list = nullptr;
  std::optional<std::multimap<Time, Fiber*>::iterator> timer;
};

WaitList::~WaitList() {
  CHECK(fibers_.empty(), "something is destroyed while a task waits for it");
}

Scheduler::Scheduler(FiberPool& pool, uint64_t seed,
                     const SchedulerOptions& options)
    : pool_(pool),
      options_(options),
      choices_(seed, "schedule"),
      now_(kTimeBegins) {}

Scheduler::~Scheduler() {
  CHECK(groups_.empty(), "a scheduler is destroyed before its processes");
}

FiberGroup* Scheduler::CurrentGroup() const {
  return current_ == nullptr ? nullptr : current_->group;
}

void Scheduler::Spawn(FiberGroup& group, std::shared_ptr<TaskState> task,
                      std::function<void()> body) {
  CHECK(!group.killed, "a task is spawned in a dead process");
  if (group.fibers.empty()) groups_.push_back(&group);
  auto fiber = std::make_unique<Fiber>();
  fiber->id = next_fiber_id_++;
  fiber->group = &group;
  fiber->task = std::move(task);
  fiber->body = std::move(body);
  group.fibers.push_back(fiber.release());  // the group owns it until Retire
  MakeRunnable(*group.fibers.back());
}

WaitResult Scheduler::Wait(WaitList* list, Time deadline,
                           const WaitReason& reason) {
  CHECK(current_ != nullptr, "a blocking call outside of any process");
  Fiber& fiber = *current_;
  if (fiber.unwinding) return WaitResult::kDeadline;
  LeaveIfKilled();
  fiber.reason = reason;
  if (deadline <= now_) {
    fiber.result = WaitResult::kDeadline;
    MakeRunnable(fiber);
  } else {
    fiber.state = Fiber::State::kWaiting;
    fiber.list = list;
    if (list != nullptr) list->fibers_.push_back(&fiber);
    if (deadline != kNever) fiber.timer = timers_.emplace(deadline, &fiber);
  }
  fiber.context->Suspend();
  if (fiber.unwinding) fiber.context->Unwind();
  return fiber.result;
}

void Scheduler::WakeAll(WaitList& list) {
  while (!list.fibers_.empty()) {
    Fiber& fiber = *list.fibers_.front();
    Detach(fiber);
    fiber.result = WaitResult::kWoken;
    MakeRunnable(fiber);
  }
}

void Scheduler::At(Time time, Action& action, uint64_t argument) {
  actions_.emplace(std::max(time, now_), DueAction{&action, argument});
}

void Scheduler::Kill(FiberGroup& group) {
  if (group.killed) return;
  group.killed = true;
  killed_.push_back(&group);
}

void Scheduler::LeaveIfKilled() {
  if (current_ == nullptr || current_->unwinding) return;
  if (current_->group->killed) Leave();
}

void Scheduler::LeaveIfInterrupted() {
  if (current_ == nullptr || current_->unwinding || !IsInterrupted()) return;
  left_interrupted_ = true;
  Kill(*current_->group);
  Leave();
}

void Scheduler::Leave() {
  LeaveByReturn();
  current_->context->Unwind();
}

void Scheduler::LeaveByReturn() {
  CHECK(current_ != nullptr && current_->group->killed,
        "a living fiber cannot leave");
  CHECK(!current_->unwinding, "a process that is gone ends itself again");
  current_->state = Fiber::State::kWaiting;
  current_->context->Suspend();
}

void Scheduler::Stop(FiberGroup& group) {
  if (group.stopped || group.killed) return;
  group.stopped = true;
  for (Fiber* fiber : group.fibers) {
    if (fiber->state != Fiber::State::kRunnable) continue;
    RemoveRunnable(*fiber);
    MakeRunnable(*fiber);
  }
}

void Scheduler::Continue(FiberGroup& group) {
  if (!group.stopped) return;
  group.stopped = false;
  for (Fiber* fiber : std::exchange(group.parked, {})) MakeRunnable(*fiber);
}

RunEnd Scheduler::Run(std::string& report) {
  CHECK(!running_, "a simulation is run from within itself");
  running_ = true;
  time_limit_ = now_ + options_.time_limit;
  step_limit_ = steps_ + options_.step_limit;
  end_.reset();
  const RunEnd end = Drive();
  if (end != RunEnd::kAllExited) report = Report();
  ending_ = true;
  for (FiberGroup* group : groups_) Kill(*group);
  UnwindKilled();
  CHECK(groups_.empty(), "a process was started while the run was ending");
  actions_.clear();
  ending_ = false;
  running_ = false;
  return end;
}

RunEnd Scheduler::Drive() {
  while (true) {
    if (!killed_.empty()) UnwindKilled();
    if (left_interrupted_) return RunEnd::kInterrupted;
    if (end_) return *end_;
    Fiber* const chosen = Choose();
    if (chosen != nullptr) Resume(*chosen);
  }
}

Fiber* Scheduler::Choose() {
  while (killed_.empty()) {
    if (groups_.empty()) return End(RunEnd::kAllExited);
    const Time next = NextTime();
    if (next > now_) {
      if (!runnable_.empty()) {
        if (steps_ == step_limit_) return End(RunEnd::kStepLimit);
        if (now_ > time_limit_) return End(RunEnd::kTimeLimit);
        if (IsInterrupted()) return End(RunEnd::kInterrupted);
        return Draw();
      }
      if (next == kNever) return End(RunEnd::kDeadlock);
      if (next > time_limit_) return End(RunEnd::kTimeLimit);
      now_ = next;
    }
    FireDue();
  }
  return nullptr;
}

Fiber* Scheduler::End(RunEnd end) {
  end_ = end;
  return nullptr;
}

// Chooses a random runnable fiber and advances time by one step. If the fiber's
// process is to be killed before this resumption, kills it and returns null.
Fiber* Scheduler::Draw() {
  Fiber& fiber = *runnable_[choices_.Below(runnable_.size())];
  ++steps_;
  now_ += options_.step_cost;
  Record(static_cast<uint64_t>(now_.time_since_epoch().count()) << 16 ^
         fiber.id);
  FiberGroup& group = *fiber.group;
  if (++group.resumptions >= group.killed_at_resumption) {
    Kill(group);
    return nullptr;
  }
  RemoveRunnable(fiber);
  return &fiber;
}

Time Scheduler::NextTime() const {
  Time next = kNever;
  if (!timers_.empty()) next = timers_.begin()->first;
  if (!actions_.empty()) next = std::min(next, actions_.begin()->first);
  return next;
}

void Scheduler::FireDue() {
  while (!timers_.empty() && timers_.begin()->first <= now_) {
    Fiber& fiber = *timers_.begin()->second;
    Detach(fiber);
    fiber.result = WaitResult::kDeadline;
    MakeRunnable(fiber);
  }
  while (!actions_.empty() && actions_.begin()->first <= now_) {
    const DueAction due = actions_.begin()->second;
    actions_.erase(actions_.begin());
    due.action->Act(due.argument);
  }
}

// Runs the fiber until it waits, leaves or ends.
void Scheduler::Resume(Fiber& fiber) {
  if (fiber.context == nullptr) {
    fiber.context = pool_.Take();
    fiber.context->Begin(std::move(fiber.body));
  }
  fiber.state = Fiber::State::kRunning;
  current_ = &fiber;
  const bool more = fiber.context->Resume();
  current_ = nullptr;
  if (!more) Retire(fiber);
}

// Destroys a fiber whose body has returned or never began.
void Scheduler::Retire(Fiber& fiber) {
  const std::unique_ptr<Fiber> owned(&fiber);
  FiberGroup& group = *fiber.group;
  if (fiber.context != nullptr) pool_.Put(std::move(fiber.context));
  fiber.body = nullptr;
  fiber.task->done = true;
  WakeAll(fiber.task->joiners);
  fiber.task.reset();
  std::erase(group.fibers, &fiber);
  if (!group.fibers.empty() || group.killed) return;
  std::erase(groups_, &group);
  if (group.on_gone) group.on_gone();
}

void Scheduler::MakeRunnable(Fiber& fiber) {
  if (fiber.group->stopped) {
    fiber.state = Fiber::State::kParked;
    fiber.group->parked.push_back(&fiber);
    return;
  }
  fiber.state = Fiber::State::kRunnable;
  fiber.runnable_index = runnable_.size();
  runnable_.push_back(&fiber);
}

void Scheduler::RemoveRunnable(Fiber& fiber) {
  Fiber* last = runnable_.back();
  runnable_[fiber.runnable_index] = last;
  last->runnable_index = fiber.runnable_index;
  runnable_.pop_back();
  fiber.runnable_index = kNowhere;
}

// Ends a wait without making the fiber runnable.
void Scheduler::Detach(Fiber& fiber) {
  if (fiber.list != nullptr) std::erase(fiber.list->fibers_, &fiber);
  fiber.list = nullptr;
  if (fiber.timer) timers_.erase(*fiber.timer);
  fiber.timer.reset();
}

void Scheduler::UnwindKilled() {
  // Unwinding a group may kill others, which are appended to killed_.
  for (size_t i = 0; i < killed_.size(); ++i) Unwind(*killed_[i]);
  killed_.clear();
}

void Scheduler::Unwind(FiberGroup& group) {
  for (Fiber* fiber : group.fibers) {
    if (fiber->state == Fiber::State::kRunnable) RemoveRunnable(*fiber);
    Detach(*fiber);
    fiber->unwinding = true;
  }
  group.parked.clear();
  Record(group.fibers.size());
  while (!group.fibers.empty()) {
    Fiber& youngest = *group.fibers.back();
    if (youngest.context == nullptr) {
      Retire(youngest);
      continue;
    }
    const size_t before = group.fibers.size();
    Resume(youngest);
    CHECK(group.fibers.size() < before,
          "a killed task suspended itself while it was unwound");
  }
  std::erase(groups_, &group);
  if (group.on_gone) group.on_gone();
}

std::string Scheduler::Report() const {
  std::string report;
  for (const FiberGroup* group : groups_) {
    for (const Fiber* fiber : group->fibers) {
      const bool waits = fiber->state == Fiber::State::kWaiting;
      report += fmt::format(
          "{}{}: task '{}' {}{}{}{}", report.empty() ? "" : "; ", group->name,
          fiber->task->name, waits ? fiber->reason.verb : "can run",
          waits && fiber->reason.what != nullptr ? " " : "",
          waits && fiber->reason.what != nullptr ? *fiber->reason.what : "",
          group->stopped ? " (process is stopped)" : "");
    }
  }
  return report;
}

}  // namespace gauntlet
