#include "chaos/inject/injector.h"

#include <algorithm>

#include <fmt/format.h>

namespace gauntlet {
namespace {

// Returns the operation that a fault at a point waits for; kNone if the fault
// happens at the hit itself.
StorageOperation WaitsFor(FaultKind kind, Point point) {
  const StorageOperation next = InfoOf(point).next;
  switch (kind) {
    case FaultKind::kTornWrite:
    case FaultKind::kShortWrite:
      return StorageOperation::kWrite;
    case FaultKind::kErrno:
      return next;
    case FaultKind::kFsyncFails:
      return next == StorageOperation::kSyncDirectory ? next
                                                      : StorageOperation::kSync;
    case FaultKind::kBitFlip:
    case FaultKind::kTruncate:
    case FaultKind::kDelete:
      return next == StorageOperation::kRead || point == Point::kLoadBegin
                 ? StorageOperation::kRead
                 : StorageOperation::kWrite;
    default:
      return StorageOperation::kNone;
  }
}

bool Affects(FaultKind kind, DeviceCall call) {
  switch (kind) {
    case FaultKind::kGpuError:
      return true;
    case FaultKind::kOutOfMemory:
      return call == DeviceCall::kOpen || call == DeviceCall::kAllocate ||
             call == DeviceCall::kAllocateIfRoom;
    case FaultKind::kDeviceHang:
      return call == DeviceCall::kOpen || call == DeviceCall::kWait;
    default:
      return false;
  }
}

bool WouldChangeWrite(const Injector::Armed& armed, uint64_t size) {
  const FaultParameters& with = armed.fault->with;
  switch (armed.fault->kind) {
    case FaultKind::kShortWrite:
      return with.bytes < size - armed.offset.value_or(0);
    case FaultKind::kTornWrite:
      return size >= static_cast<uint64_t>(with.blocks);
    default:
      return true;
  }
}

// Returns true iff the site names the block of this hit, or has an offset. An
// offset selects the block later.
bool BlockMatches(const FaultSite& site, const PointContext& context) {
  return site.offset || site.block == kAnyBlock || site.block == context.block;
}

// Returns the size of the whole file that the block at this hit belongs to.
uint64_t FileSize(const PointContext& context) { return context.size; }

// Returns true iff the offset belongs to this write. Offset 0 belongs to the
// write at the beginning of the file. Every other offset belongs to the write
// that ends at the offset or goes past it.
bool Reaches(const Injector::WriteRange& range, uint64_t offset) {
  if (offset == 0) return range.offset == 0;
  return range.offset < offset && offset - range.offset <= range.size;
}

}  // namespace

Injector::Injector(const FaultPlan& plan, const ProcessIdentity& self,
                   InjectorEffects& effects, FiredFaults& fired,
                   EventLog& events)
    : plan_(plan),
      self_(self),
      effects_(effects),
      fired_(fired),
      events_(events),
      by_point_(AllPoints().size()) {
  for (const Fault& fault : plan_.faults) {
    if (!IsHere(fault.site)) continue;
    State& state = states_.emplace_back();
    state.fault = &fault;
    state.may_come = fault.after.empty();
    by_point_[static_cast<size_t>(fault.site.point)].push_back(&state);
  }
}

Injector::~Injector() = default;

bool Injector::IsHere(const FaultSite& site) const {
  if (site.incarnation != kAnyIncarnation &&
      site.incarnation != self_.incarnation)
    return false;
  if (site.worker == kChief) return self_.rank == 0;
  return site.worker == kAnyWorker || site.worker == kAllWorkers ||
         site.worker == self_.worker;
}

bool Injector::PositionMatches(const Fault& fault) const {
  const uint64_t step = step_.load();
  if (fault.site.step && *fault.site.step != step) return false;
  if (fault.site.epoch && *fault.site.epoch != epoch_.load()) return false;
  if (fault.site.save && *fault.site.save != save_.load()) return false;
  return !fault.with.until_step || step < *fault.with.until_step;
}

Status Injector::Hit(Point point, const PointContext& context) {
  NotePosition(point, context);
  if (point == Point::kLoadEnd) DisarmReadsOfTheLoad();
  if (by_point_[static_cast<size_t>(point)].empty()) return OkStatus();
  const Due due = Match(point, context);
  return due.empty() ? OkStatus() : Perform(due, point);
}

bool Injector::Planted(PlantedBug bug) const {
  return std::ranges::find(plan_.bugs, bug) != plan_.bugs.end();
}

void Injector::NotePosition(Point point, const PointContext& context) {
  switch (InfoOf(point).part) {
    case RunPart::kTraining:
      step_.store(context.step, std::memory_order_relaxed);
      epoch_.store(context.epoch, std::memory_order_relaxed);
      return;
    case RunPart::kSave:
      if (point == Point::kSaveBegin) save_.store(++begun_saves_);
      return;
    // A claim's state file and the deletions at the end belong to no save.
    case RunPart::kRendezvous:
    case RunPart::kFinish:
      save_.store(0);
      return;
    default:
      return;
  }
}

bool Injector::CountOccurrence(State& state) {
  if (state.exhausted) return false;
  ++state.occurrences;
  const FaultParameters& with = state.fault->with;
  const uint64_t first = state.fault->site.occurrence;
  return state.occurrences >= first && (with.times == FaultTimes::kAlways ||
                                        state.occurrences - first < with.hits);
}

Injector::Due Injector::Match(Point point, const PointContext& context) {
  Due due;
  for (State* state : by_point_[static_cast<size_t>(point)]) {
    const Fault& fault = *state->fault;
    if (!PositionMatches(fault) || !BlockMatches(fault.site, context)) continue;
    if (!state->may_come) {
      if (!fired_.HasFired(fault.after)) continue;
      state->may_come = true;
    }
    if (fault.site.offset) {
      // TakeForWrite counts the occurrence at the write that reaches the
      // offset.
      Arm({.state = state,
           .fault = &fault,
           .point = point,
           .offset = fault.site.offset->In(FileSize(context))});
      continue;
    }
    const std::lock_guard lock(mutex_);
    if (CountOccurrence(*state)) due.push_back(state);
  }
  return due;
}

Status Injector::Perform(const Due& due, Point point) {
  Status first;
  for (State* state : due) {
    const Fault& fault = *state->fault;
    const Armed armed{.state = state, .fault = &fault, .point = point};
    if (WaitsFor(fault.kind, point) != StorageOperation::kNone) {
      Arm(armed);
      continue;
    }
    const Status status = Perform(armed);
    if (first.ok()) first = status;
  }
  return first;
}

void Injector::Arm(const Armed& armed) {
  const std::lock_guard lock(mutex_);
  if (armed.state->exhausted) return;
  const auto already = std::ranges::find(armed_, armed.state, &Armed::state);
  if (already == armed_.end()) {
    armed_.push_back(armed);
  } else {
    *already = armed;
  }
  armed_count_.store(armed_.size());
}

void Injector::Rearm(const Armed& armed) { Arm(armed); }

// Called at the end of a load: disarms faults that still wait for one of its
// reads. A load from memory opens no file, so such a fault would hit a file
// opened after the load.
void Injector::DisarmReadsOfTheLoad() {
  if (!AnyArmed()) return;
  const std::lock_guard lock(mutex_);
  std::erase_if(armed_, [](const Armed& armed) {
    return armed.point == Point::kLoadBegin &&
           WaitsFor(armed.fault->kind, armed.point) == StorageOperation::kRead;
  });
  armed_count_.store(armed_.size());
}

template <typename Matches>
std::optional<Injector::Armed> Injector::TakeFirst(const Matches& matches) {
  const std::lock_guard lock(mutex_);
  const auto met = std::ranges::find_if(armed_, [&](const Armed& armed) {
    return !armed.offset && matches(armed);
  });
  if (met == armed_.end()) return std::nullopt;
  const Armed taken = *met;
  armed_.erase(met);
  armed_count_.store(armed_.size());
  return taken;
}

std::optional<Injector::Armed> Injector::Take(StorageOperation operation) {
  return TakeFirst([operation](const Armed& armed) {
    return WaitsFor(armed.fault->kind, armed.point) == operation;
  });
}

std::optional<Injector::Armed> Injector::TakeForWrite(const WriteRange& range) {
  const std::lock_guard lock(mutex_);
  std::optional<Armed> taken;
  std::vector<Armed> rest;
  for (Armed armed : armed_) {
    const bool waits_for_write =
        armed.offset ||
        WaitsFor(armed.fault->kind, armed.point) == StorageOperation::kWrite;
    if (taken || !waits_for_write) {
      rest.push_back(armed);
      continue;
    }
    if (armed.offset) {
      // The fault can happen only at the first write after its hit. If this
      // write does not reach the offset, the fault waits for the next hit.
      if (!Reaches(range, *armed.offset) || !CountOccurrence(*armed.state))
        continue;
      armed.offset = *armed.offset - range.offset;
    }
    if (WouldChangeWrite(armed, range.size)) {
      taken = armed;
    } else if (!armed.offset) {
      rest.push_back(armed);
    }
  }
  armed_ = std::move(rest);
  armed_count_.store(armed_.size());
  return taken;
}

std::optional<Injector::Armed> Injector::TakeForDevice(DeviceCall call) {
  return TakeFirst(
      [call](const Armed& armed) { return Affects(armed.fault->kind, call); });
}

void Injector::Hang(const Fault& fault) {
  if (fault.with.duration == Duration::zero()) {
    effects_.HangForever();
  } else {
    effects_.Sleep(fault.with.duration);
  }
}

bool Injector::Fire(const Armed& armed) {
  return Fire(*armed.state, armed.point);
}

bool Injector::FireAtFile(const Armed& armed, const std::string& file) {
  if (!Fire(armed)) return false;
  events_.Emit({.kind = EventKind::kDamaged,
                .step = step_.load(),
                .epoch = epoch_.load(),
                .path = file,
                .detail = armed.fault->id});
  return true;
}

// Marks the fault as fired. Returns false if the fault may fire only once, in
// the run or in each worker, and another process or incarnation fired it.
bool Injector::Claim(const Fault& fault) {
  const bool once = fault.with.times == FaultTimes::kOnce;
  const bool once_each = once && fault.site.worker == kAllWorkers;
  const bool is_first = fired_.MarkFired(
      once_each ? fmt::format("{}@{}", fault.id, self_.worker) : fault.id);
  if (once_each && is_first) fired_.MarkFired(fault.id);
  return is_first || !once;
}

bool Injector::Fire(State& state, Point point) {
  const Fault& fault = *state.fault;
  bool first;
  {
    // Holds the lock until Claim has decided, so that no other task can fire
    // the fault meanwhile.
    const std::lock_guard lock(mutex_);
    if (state.exhausted) return false;
    if (state.fired == 0 && !Claim(fault)) {
      state.exhausted = true;
      return false;
    }
    ++state.fired;
    state.exhausted =
        fault.with.times == FaultTimes::kOnce && state.fired >= fault.with.hits;
    first = state.fired == 1;
  }
  events_.Emit({.kind = first ? EventKind::kFaultFired : EventKind::kFaultAgain,
                .step = step_.load(),
                .epoch = epoch_.load(),
                .path = std::string(PointName(point)),
                .detail = fault.id});
  return true;
}

Status Injector::Perform(const Armed& armed) {
  if (IsOfDevice(armed.fault->kind)) {
    // The worker has reached the fault's point, or its write has reached the
    // offset. Now the fault waits for the next matching call of the device.
    Arm({.state = armed.state, .fault = armed.fault, .point = armed.point});
    return OkStatus();
  }
  return Fire(armed) ? Act(*armed.fault, armed.point) : OkStatus();
}

Status Injector::Act(const Fault& fault, Point point) {
  const FaultParameters& with = fault.with;
  switch (fault.kind) {
    case FaultKind::kCrash:
      effects_.CrashNow(with.exit_code);
      break;
    case FaultKind::kException:
      effects_.AbortNow(fmt::format("{}: injected internal failure at {}",
                                    fault.id, PointName(point)));
      break;
    case FaultKind::kKill:
      if (!with.kill_latency) effects_.KillNow();
      effects_.KillSoon(*with.kill_latency);
      return OkStatus();
    case FaultKind::kKillLauncher:
      effects_.KillLauncher();
      return OkStatus();
    case FaultKind::kTerminateLauncher:
      effects_.TerminateLauncher();
      return OkStatus();
    case FaultKind::kHang:
      Hang(fault);
      return OkStatus();
    case FaultKind::kPause:
      effects_.StopSelf(with.duration);
      return OkStatus();
    case FaultKind::kSlow:
      effects_.Sleep(with.latency);
      return OkStatus();
    case FaultKind::kPreempt:
      effects_.DeliverNotice(with.grace, with.notice);
      return OkStatus();
    case FaultKind::kErrno:
      return FaultErrorStatus(with.error, point);
    case FaultKind::kPowerLoss:
      effects_.PowerLossNow();
      break;
    case FaultKind::kWallClockJump:
      effects_.JumpCalendar(
          with.direction == JumpDirection::kForward ? with.by : -with.by);
      return OkStatus();
    case FaultKind::kPartition:
    case FaultKind::kAsymmetricPartition:
    case FaultKind::kPacketLoss:
    case FaultKind::kDelay:
    case FaultKind::kDuplicate:
    case FaultKind::kConnectionReset:
      effects_.ApplyNetworkFault(fault);
      return OkStatus();
    case FaultKind::kTornWrite:
    case FaultKind::kShortWrite:
    case FaultKind::kFsyncFails:
    case FaultKind::kBitFlip:
    case FaultKind::kTruncate:
    case FaultKind::kDelete:
    case FaultKind::kGpuError:
    case FaultKind::kOutOfMemory:
    case FaultKind::kDeviceHang:
      break;
  }
  CHECK(false, fmt::format("{}: a fault of storage or of a device, elsewhere",
                           fault.id));
  return OkStatus();
}

void Injector::FinishTear(const Fault& fault) {
  if (fault.with.then == AfterTear::kCrash) {
    effects_.CrashNow(fault.with.exit_code);
  }
  if (fault.with.then == AfterTear::kPowerLoss) effects_.PowerLossNow();
}

}  // namespace gauntlet
