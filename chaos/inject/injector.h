// Executes a fault plan in one process: counts the occurrences of its sites and
// performs the faults that are due there.
//
// The injector decides which fault happens when; InjectorEffects implements how
// a process dies, hangs or loses power in its world. Faults of storage
// operations are armed here and happen in FaultyStorage
// (chaos/inject/faulty_storage.h), which must be between the engine and its
// storage. In the same way, faults of a device happen in FaultyDevice. Safe
// from any task.
#ifndef GAUNTLET_CHAOS_INJECT_INJECTOR_H_
#define GAUNTLET_CHAOS_INJECT_INJECTOR_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chaos/inject/plan/plan.h"
#include "engine/world/event_log.h"
#include "engine/world/fault_point.h"

namespace gauntlet {

// Effects of faults in a world. Each acts on the process, or on the task, that
// reached the fault. No effect may run an engine destructor that writes. No
// lock is held during a call.
class InjectorEffects {
 public:
  virtual ~InjectorEffects() = default;
  // Ends the process with all its tasks.
  [[noreturn]] virtual void CrashNow(int exit_code) = 0;
  // Ends the process as an internal failure does (SIGABRT).
  [[noreturn]] virtual void AbortNow(std::string_view why) = 0;
  // Kills the process at this instruction (SIGKILL).
  [[noreturn]] virtual void KillNow() = 0;
  // Returns at once. The process is killed after `latency` plus an uncontrolled
  // delay.
  virtual void KillSoon(Duration latency) = 0;
  // Kills the process's launcher (SIGKILL) if it still runs, and returns.
  virtual void KillLauncher() = 0;
  virtual void TerminateLauncher() = 0;
  // Blocks the calling task only, until its process ends.
  virtual void HangForever() = 0;
  // Blocks the calling task only.
  virtual void Sleep(Duration duration) = 0;
  // Stops all tasks of the process, for the duration; 0: for ever.
  virtual void StopSelf(Duration duration) = 0;
  // Gives the process a termination notice, which it may have to poll for, and
  // returns. The process is killed `grace` later if it still runs.
  virtual void DeliverNotice(Duration grace, NoticeBy by) = 0;
  // Ends the machine: all its processes, and all data that was not synced.
  [[noreturn]] virtual void PowerLossNow() = 0;
  // Begins the fault on the process's connections, or between the groups that
  // the fault names, and returns at once. The fault ends after its duration.
  // REQUIRES: IsNetworkFault(fault.kind).
  virtual void ApplyNetworkFault(const Fault& fault) = 0;
  // Moves the wall clock that the process reads; `by` may be negative.
  virtual void JumpCalendar(Duration by) = 0;
};

// The faults of a run that have fired, shared by all its processes and their
// incarnations. A key is valid as a file name.
class FiredFaults {
 public:
  virtual ~FiredFaults() = default;
  // Returns true iff this call is the first for the key. The mark lasts even if
  // the process ends at the next instruction.
  virtual bool MarkFired(const std::string& key) = 0;
  virtual bool HasFired(const std::string& key) = 0;
};

struct ProcessIdentity {
  int worker = 0;
  int incarnation = 1;
  int rank = 0;  // 0: the chief
};

// Calls to a device, by the kinds that faults distinguish.
enum class DeviceCall : uint8_t {
  kOpen,
  kAllocate,
  kAllocateIfRoom,  // an array that the caller can do without
  kQueue,           // an operation or a copy, performed later
  kWait,            // until all queued work is done
};

class Injector final : public FaultPoints {
 private:
  struct State;

 public:
  // All references must outlive this.
  Injector(const FaultPlan& plan, const ProcessIdentity& self,
           InjectorEffects& effects, FiredFaults& fired, EventLog& events);
  ~Injector() override;

  Status Hit(Point point, const PointContext& context) override;
  bool Planted(PlantedBug bug) const override;

  // NotePosition, Match and Perform are the three parts of Hit, for a world
  // that acts between them. NotePosition records step, epoch and save at the
  // points that set them.
  void NotePosition(Point point, const PointContext& context);
  // Counts the hit; returns the faults that are due at it, in the plan's order.
  using Due = std::vector<State*>;
  Due Match(Point point, const PointContext& context);
  // Performs or arms the faults. Returns the first error. A fault may delay the
  // return, or end the process.
  Status Perform(const Due& due, Point point);

  // For FaultyStorage and FaultyDevice: a fault that waits for an operation.
  struct Armed {
    State* state = nullptr;
    const Fault* fault = nullptr;
    Point point = Point::kStepBegin;
    // Set if the site has an offset. While the fault waits: the offset in the
    // file, in bytes. Once TakeForWrite has returned the fault: the number of
    // bytes of the write that come before the offset.
    std::optional<uint64_t> offset;
  };
  struct WriteRange {
    uint64_t offset = 0;
    uint64_t size = 0;
  };
  bool AnyArmed() const { return armed_count_.load() != 0; }
  // Disarms and returns the first fault that waits for an operation of this
  // kind.
  std::optional<Armed> Take(StorageOperation operation);
  // As Take, for a write; skips faults that would not change this write.
  // Several faults may be due at one write: call this until it returns nullopt.
  std::optional<Armed> TakeForWrite(const WriteRange& range);
  // As Take, for a call to the device.
  std::optional<Armed> TakeForDevice(DeviceCall call);
  // Arms again a fault that Take or TakeForWrite has returned: it could not
  // change that operation, or waits for another one.
  void Rearm(const Armed& armed);
  // Logs that the fault fires, and returns true: the caller then performs the
  // effect. Returns false if the fault must not fire again; another process or
  // incarnation may have fired it.
  bool Fire(const Armed& armed);
  // As Fire, and logs that `file` is damaged. The writer of the file gets no
  // error.
  bool FireAtFile(const Armed& armed, const std::string& file);
  // Fires the fault and performs its effect; returns the error if the kind is
  // errno. A fault of a device is not fired yet: it is armed for the next
  // matching call. REQUIRES: the kind is errno, or no fault of storage.
  Status Perform(const Armed& armed);
  // Blocks the calling task for the fault's duration. REQUIRES: hang or
  // device_hang.
  void Hang(const Fault& fault);
  // Performs the consequence of a torn write (`then`). Returns only for
  // AfterTear::kNothing.
  void FinishTear(const Fault& fault);

 private:
  struct State {
    const Fault* fault = nullptr;
    std::atomic<bool> may_come = false;  // its `after` has fired, or is ""
    uint64_t occurrences = 0;
    uint64_t fired = 0;      // number of times
    bool exhausted = false;  // must not fire again
  };

  void DisarmReadsOfTheLoad();
  bool IsHere(const FaultSite& site) const;
  bool PositionMatches(const Fault& fault) const;
  // Counts an occurrence of the site. Returns true iff the fault is due at it.
  static bool CountOccurrence(State& state);
  void Arm(const Armed& armed);
  // Disarms and returns the first armed fault that has no offset and matches.
  template <typename Matches>
  std::optional<Armed> TakeFirst(const Matches& matches);
  bool Claim(const Fault& fault);
  bool Fire(State& state, Point point);
  Status Act(const Fault& fault, Point point);

  const FaultPlan& plan_;
  const ProcessIdentity self_;
  InjectorEffects& effects_;
  FiredFaults& fired_;
  EventLog& events_;

  std::atomic<uint64_t> step_ = 0;
  std::atomic<uint64_t> epoch_ = 0;
  std::atomic<uint64_t> begun_saves_ = 0;
  std::atomic<uint64_t> save_ = 0;  // newest of this generation; 0: none
  std::atomic<size_t> armed_count_ = 0;
  std::mutex mutex_;          // guards the states' counts and armed_
  std::deque<State> states_;  // one for each fault that can happen here
  std::vector<std::vector<State*>> by_point_;
  std::vector<Armed> armed_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_INJECT_INJECTOR_H_
