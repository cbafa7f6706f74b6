// The seeded scheduler: chooses the next fiber and advances virtual time.
//
// One OS thread. A fiber runs until it waits; then a random runnable fiber runs
// next, so that no order is guaranteed and no fiber starves. Virtual time
// advances a little with every decision, and jumps to the next timer when no
// fiber is runnable. Every decision is added to a rolling digest.
//
// The fibers of a killed group are unwound from their waits, the youngest
// first, so that a parent's stack outlives its children. While a fiber is
// unwound, its waits return immediately.
#ifndef GAUNTLET_CHAOS_SIM_SCHEDULER_SCHEDULER_H_
#define GAUNTLET_CHAOS_SIM_SCHEDULER_SCHEDULER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "chaos/sim/scheduler/fiber.h"
#include "chaos/sim/scheduler/random_stream.h"
#include "engine/world/clock.h"

namespace gauntlet {

struct Fiber;
struct FiberGroup;

// The fibers that wait for the same event. Must be empty when destroyed.
class WaitList {
 public:
  WaitList() = default;
  ~WaitList();
  WaitList(const WaitList&) = delete;
  WaitList& operator=(const WaitList&) = delete;
  bool empty() const { return fibers_.empty(); }

 private:
  friend class Scheduler;
  std::vector<Fiber*> fibers_;  // in the order in which they are woken
};

// Describes a wait, for the report of Scheduler::Run: "receives from" "w0:70
// (#3)". Both texts outlive the wait.
struct WaitReason {
  const char* verb = "waits";
  const std::string* what = nullptr;
};

enum class WaitResult : uint8_t { kWoken, kDeadline };

// State of a task. It outlives the task, for other tasks that join it.
struct TaskState {
  std::string name;
  bool done = false;
  WaitList joiners;
};

// The fibers of one process.
struct FiberGroup {
  int id = 0;
  std::string name;
  // Called outside of any fiber when the last fiber is gone.
  std::function<void()> on_gone;
  // Number of the resumption before which the group is killed, from 1.
  uint64_t killed_at_resumption = UINT64_MAX;

  bool stopped = false;
  bool killed = false;
  uint64_t resumptions = 0;
  std::vector<Fiber*> fibers;  // oldest first
  std::vector<Fiber*> parked;  // runnable, but the group is stopped
};

// A callback that the scheduler calls at a given time, outside of any fiber.
class Action {
 public:
  virtual ~Action() = default;
  virtual void Act(uint64_t argument) = 0;
};

enum class RunEnd : uint8_t {
  kAllExited,
  kDeadlock,     // no fiber is runnable and no timer is set
  kTimeLimit,    // virtual time reached its limit
  kStepLimit,    // number of scheduling decisions reached its limit
  kInterrupted,  // by SchedulerOptions::interrupted
};

struct SchedulerOptions {
  Duration step_cost = std::chrono::microseconds(1);
  Duration time_limit = std::chrono::hours(1);
  uint64_t step_limit = 50'000'000;
  // Called before each decision and at each event; true ends the run there.
  // Once true, it must stay true. May be empty.
  std::function<bool()> interrupted;
};

class Scheduler {
 public:
  Scheduler(FiberPool& pool, uint64_t seed, const SchedulerOptions& options);
  // REQUIRES: all groups are gone.
  ~Scheduler();

  Time now() const { return now_; }
  uint64_t steps() const { return steps_; }
  uint64_t digest() const { return digest_; }
  // Adds an external effect to the digest.
  void Record(uint64_t word) {
    digest_ = (digest_ ^ word) * 0x9E3779B97F4A7C15;
    digest_ ^= digest_ >> 29;
  }

  void Spawn(FiberGroup& group, std::shared_ptr<TaskState> task,
             std::function<void()> body);
  // Returns true iff called on a fiber.
  bool InFiber() const { return current_ != nullptr; }
  // Returns the caller's group; null outside of fibers.
  FiberGroup* CurrentGroup() const;

  // Blocks the calling fiber until the list is woken (kWoken) or the deadline
  // has passed. Always lets other fibers run. In a killed group it does not
  // return; if the fiber is already being unwound, it returns kDeadline
  // immediately.
  WaitResult Wait(WaitList* list, Time deadline, const WaitReason& reason);
  void WakeAll(WaitList& list);
  // Calls action.Act(argument) at that time, outside of any fiber.
  void At(Time time, Action& action, uint64_t argument);

  // Kills the group. Its fibers are unwound before the next decision. A caller
  // in the group keeps running until it waits or leaves.
  void Kill(FiberGroup& group);
  // Ends the calling fiber. REQUIRES: its group is killed, and it is not being
  // unwound.
  [[noreturn]] void Leave();
  // As Leave, but returns when it is this fiber's turn to be unwound. The fiber
  // must then return from its body, which is cheaper than unwinding it.
  void LeaveByReturn();
  // Leaves if the caller is a fiber of a killed group and is not yet being
  // unwound.
  void LeaveIfKilled();
  // If the run is interrupted, kills the caller's group and leaves.
  void LeaveIfInterrupted();
  void Stop(FiberGroup& group);
  void Continue(FiberGroup& group);

  // Runs until every group is gone, or a limit is reached; limits count from
  // the call. Then kills the remaining groups, and drops actions due later.
  // `report` receives the wait of each remaining fiber, separated by "; ".
  RunEnd Run(std::string& report);
  // Returns true iff the run has ended and Run only kills what remains.
  bool ending() const { return ending_; }

 private:
  struct DueAction {
    Action* action;
    uint64_t argument;
  };

  RunEnd Drive();
  // Returns the next fiber; null if a process must be unwound first or the run
  // has ended.
  Fiber* Choose();
  Fiber* Draw();
  Fiber* End(RunEnd end);
  void FireDue();
  Time NextTime() const;
  void Resume(Fiber& fiber);
  void Retire(Fiber& fiber);
  void MakeRunnable(Fiber& fiber);
  void RemoveRunnable(Fiber& fiber);
  void Detach(Fiber& fiber);
  void UnwindKilled();
  void Unwind(FiberGroup& group);
  std::string Report() const;

  bool IsInterrupted() const {
    return options_.interrupted && options_.interrupted();
  }

  FiberPool& pool_;
  SchedulerOptions options_;
  RandomStream choices_;
  Time now_;
  Time time_limit_ = kNever;
  uint64_t step_limit_ = 0;
  bool left_interrupted_ = false;  // a fiber left because of an interruption
  uint64_t steps_ = 0;
  uint64_t digest_ = 0;
  uint32_t next_fiber_id_ = 0;
  bool running_ = false;
  bool ending_ = false;
  Fiber* current_ = nullptr;
  std::optional<RunEnd> end_;  // end of the current run, once decided
  std::vector<Fiber*> runnable_;
  // Due timers fire before due actions; both in order of time, then of
  // insertion.
  std::multimap<Time, Fiber*> timers_;
  std::multimap<Time, DueAction> actions_;
  std::vector<FiberGroup*> groups_;  // with fibers, in order of appearance
  std::vector<FiberGroup*> killed_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_SIM_SCHEDULER_SCHEDULER_H_
