// Brings a fault plan to one process life: counts the occurrences of its sites
// and lets happen what is due there.
//
// The injector decides; how a process dies, hangs or loses power is the world's
// part, behind InjectorEffects. Faults of storage operations are armed here and
// happen in FaultyStorage (chaos/inject/faulty_storage.h), which must stand
// between the engine and its storage; those of a device likewise, in
// FaultyDevice. Safe from any task.
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

#include "chaos/inject/plan.h"
#include "engine/world/event_log.h"
#include "engine/world/fault_point.h"

namespace gauntlet {

// What a world does to the process, or to the task, that reached a fault. None
// may run destructors of the engine's that write; no lock is held in a call.
class InjectorEffects {
 public:
  virtual ~InjectorEffects() = default;
  // The process is gone, with all its tasks.
  [[noreturn]] virtual void CrashNow(int exit_code) = 0;
  // Likewise, as an internal failure ends it (SIGABRT).
  [[noreturn]] virtual void AbortNow(std::string_view why) = 0;
  // The process is killed at this instruction (SIGKILL).
  [[noreturn]] virtual void KillNow() = 0;
  // Returns; the process is killed `latency` and an uncontrolled moment later.
  virtual void KillSoon(Duration latency) = 0;
  // The process's launcher is killed (SIGKILL), if it is still there. Returns.
  virtual void KillLauncher() = 0;
  virtual void TerminateLauncher() = 0;
  // Blocks the calling task only, until its process ends.
  virtual void HangForever() = 0;
  // Blocks the calling task only.
  virtual void Sleep(Duration duration) = 0;
  // Stops all tasks at once; 0: for ever.
  virtual void StopSelf(Duration duration) = 0;
  // Returns; the process has a termination notice, which it may have to look
  // for, and is killed `grace` later if it is still there.
  virtual void DeliverNotice(Duration grace, NoticeBy by) = 0;
  // The machine, with all processes and what was not synced.
  [[noreturn]] virtual void PowerLossNow() = 0;
  // Returns; from now on the process's connections, or those of the groups that
  // the fault names, have the trouble that the fault is, until its duration is
  // over. REQUIRES: IsOfNetwork(fault.kind).
  virtual void TroubleNetwork(const Fault& fault) = 0;
  // Of the machine, as the process sees it; may be negative.
  virtual void JumpCalendar(Duration by) = 0;
};

// Which faults of a run have fired, as all its processes and lives see it. A
// key is good as a file name.
class FiredFaults {
 public:
  virtual ~FiredFaults() = default;
  // Whether this call was the first for the key. Kept even if the process ends
  // at the next instruction.
  virtual bool MarkFired(const std::string& key) = 0;
  virtual bool HasFired(const std::string& key) = 0;
};

struct ProcessIdentity {
  int worker = 0;
  int life = 1;
  int rank = 0;  // 0: the chief
};

// What is asked of a device, as faults tell it apart.
enum class DeviceCall : uint8_t {
  kOpen,
  kAllocate,
  kAllocateIfRoom,  // where there may be none
  kQueue,           // an operation or a copy, to be done some time
  kWait,            // until all that was asked for is done
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

  // The three parts of Hit, for a world that puts something between them.
  // Remembers step, epoch and save at the points that set them.
  void NotePosition(Point point, const PointContext& context);
  // Counts the hit; what is due because of it, in the plan's order.
  using Due = std::vector<State*>;
  Due Match(Point point, const PointContext& context);
  // Lets it happen. May not return, or late; the first error otherwise.
  Status Perform(const Due& due, Point point);

  // For FaultyStorage and FaultyDevice: a fault that waits for an operation.
  struct Armed {
    State* state = nullptr;
    const Fault* fault = nullptr;
    Point point = Point::kStepBegin;
    // Set for a site with an offset: where it is, in bytes of the file, until
    // taken; then how many bytes of the write come before it.
    std::optional<uint64_t> offset;
  };
  struct WriteRange {
    uint64_t offset = 0;
    uint64_t size = 0;
  };
  bool AnyArmed() const { return armed_count_.load() != 0; }
  // Takes the first fault that waits for an operation of this kind.
  std::optional<Armed> Take(StorageOperation operation);
  // Likewise for a write: to be asked until there is none left for it. Passes
  // over faults that would not change it.
  std::optional<Armed> TakeForWrite(const WriteRange& range);
  // Likewise, of those that wait for what is asked of the device.
  std::optional<Armed> TakeForDevice(DeviceCall call);
  // Arms it again: it met an operation that it could not change.
  void PutBack(const Armed& armed);
  // Claims and logs the fault; false: another process had it, or it is spent.
  // To be called before its effect, which is the caller's.
  bool Fire(const Armed& armed);
  // Fire, and says which file is damaged. The writer is told nothing of it.
  bool FireOn(const Armed& armed, const std::string& file);
  // Fire, and the effect of a kind that is neither of storage nor of a device.
  Status Perform(const Armed& armed);
  // The calling task stands still as long as the fault says. REQUIRES: hang or
  // device_hang.
  void StandStill(const Fault& fault);
  // What follows a torn write; returns for AfterTear::kNothing.
  void FinishTear(const Fault& fault);

 private:
  struct State {
    const Fault* fault = nullptr;
    std::atomic<bool> may_come = false;  // what it comes after has fired
    uint64_t occurrences = 0;
    uint64_t fired = 0;  // how often
    bool spent = false;
  };

  void DisarmReadsOfTheLoad();
  bool IsHere(const FaultSite& site) const;
  bool PositionMatches(const Fault& fault) const;
  // Counts an occurrence of the site. True iff the fault is due at it.
  static bool CountOccurrence(State& state);
  void Arm(const Armed& armed);
  // Takes the first that matches, of those that wait for no offset.
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
  std::atomic<uint64_t> save_ = 0;  // the newest of this generation; 0: none
  std::atomic<size_t> armed_count_ = 0;
  std::mutex mutex_;          // the states' counts; armed_
  std::deque<State> states_;  // of the faults that can happen here
  std::vector<std::vector<State*>> by_point_;
  std::vector<Armed> armed_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_INJECT_INJECTOR_H_
