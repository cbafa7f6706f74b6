#include "reports/events/causes.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <tuple>

#include "harness/record/base_name.h"
#include "harness/record/fault_occurrence.h"
#include "harness/record/fault_traits.h"

namespace gauntlet {
namespace {

// Returns a value that orders the events of all processes.
std::tuple<int64_t, uint64_t> TimeOf(const RecordEvent& event) {
  return {event.t_ns, event.order};
}

// Returns true iff a damaged or missing file can be the cause of an exit with
// this reason.
bool MayBeDueToAFile(RecordReason reason) {
  return reason == RecordReason::kBadData ||
         reason == RecordReason::kMissingFile ||
         reason == RecordReason::kPrecondition ||
         reason == RecordReason::kBadInput;
}

// Visits the events by time and keeps the newest of each kind that can cause
// another event.
class CauseFinder {
 public:
  explicit CauseFinder(const Record& record) : record_(record) {}

  std::map<EventPlace, EventPlace> Find() {
    for (const EventPlace& place : EventsByTime(record_)) {
      if (const std::optional<EventPlace> cause = CauseOf(place)) {
        causes_.emplace(place, *cause);
      }
      Add(place);
    }
    return std::move(causes_);
  }

 private:
  using Place = std::optional<EventPlace>;
  using ByWorker = std::map<int, EventPlace>;

  const RecordEvent& Event(const EventPlace& place) const {
    return EventAt(record_, place);
  }
  int WorkerOf(const EventPlace& place) const {
    return IncarnationOf(record_, place).worker;
  }

  // Returns the later one in time. Of events at the same time, returns the one
  // with the higher RecordEvent::order; `a` if that is the same too.
  Place Later(const Place& a, const Place& b) const {
    if (!a || !b) return a ? a : b;
    return TimeOf(Event(*b)) > TimeOf(Event(*a)) ? b : a;
  }

  Place OfWorker(const ByWorker& newest, int worker) const {
    const auto found = newest.find(worker);
    return found == newest.end() ? Place() : Place(found->second);
  }
  Place OfAll(const ByWorker& newest) const {
    Place last;
    for (const auto& [worker, place] : newest) last = Later(last, place);
    return last;
  }
  Place OfOthers(const ByWorker& newest, int worker) const {
    Place last;
    for (const auto& [other, place] : newest) {
      if (other != worker) last = Later(last, place);
    }
    return last;
  }
  // Returns the worker's last fault if it fired in this incarnation, else the
  // last fault of any worker.
  Place OwnFault(const EventPlace& effect) const {
    const Place own = OfWorker(faults_, WorkerOf(effect));
    if (own && own->incarnation == effect.incarnation) return own;
    return OfAll(faults_);
  }

  // Returns true iff the process emitted nothing after this event, except
  // faults and its exit.
  bool EndsItsProcess(const EventPlace& place) const {
    const auto& events = IncarnationOf(record_, place).events;
    return std::all_of(
        events.begin() + static_cast<std::ptrdiff_t>(place.index) + 1,
        events.end(), [](const RecordEvent& event) {
          return event.kind == RecordKind::kFaultFired ||
                 event.kind == RecordKind::kWorkerExited;
        });
  }

  // Returns true iff a damaged or missing file can be the cause of the exit of
  // the process.
  bool MayExitDueToAFile(const EventPlace& place) const {
    const RecordEvent& last = IncarnationOf(record_, place).events.back();
    return last.kind == RecordKind::kWorkerExited &&
           MayBeDueToAFile(last.reason);
  }

  // Returns the cause of the chief's refusal: the newest failed load of another
  // worker, else the newest damage to a file. The damage counts only if a file
  // can be the cause of the worker's exit, which has the chief's reason.
  Place CauseOfRefusal(const EventPlace& loss) const {
    const Place bad_load = OfOthers(bad_loads_, WorkerOf(loss));
    if (bad_load || !MayExitDueToAFile(loss)) return bad_load;
    return OfAll(damaged_);
  }

  // Returns the exit of the worker with this rank: the newest one that has
  // started with it.
  Place ExitOfRank(int rank) const {
    Place start;
    for (const auto& [worker, place] : starts_) {
      if (worker != kLauncherWorker && Event(place).count == rank) {
        start = Later(start, place);
      }
    }
    return start ? OfWorker(exits_, WorkerOf(*start)) : Place();
  }

  // Returns the most likely cause of a loss: the first of these that exists.
  // Faults before the last restart of their worker do not count.
  //   - the cause of a refusal
  //   - the exit that closed the connection
  //   - the newest fault that ended another process, immediately or at the end
  //     of a grace period
  //   - the newest fault of another worker or, if later, the newest fault of
  //     this worker's links
  //   - the newest fault of this worker
  //   - the newest failed load or exit of another worker
  Place CauseOfLoss(const EventPlace& loss) const {
    const int worker = WorkerOf(loss);
    if (Event(loss).reason == RecordReason::kRefused) {
      if (const Place cause = CauseOfRefusal(loss)) return cause;
    }
    if (Event(loss).reason == RecordReason::kClosed && Event(loss).about) {
      if (const Place exit = ExitOfRank(*Event(loss).about)) return exit;
    }
    Place fatal;
    for (const auto& [other, fault] : faults_) {
      if (other == worker) continue;
      const Place notice = OfWorker(grants_, other);
      if (notice && IsOver(*notice, Event(loss).t_ns)) {
        fatal = Later(fatal, notice);
      } else if (EndsItsProcess(fault)) {
        fatal = Later(fatal, fault);
      }
    }
    if (fatal) return fatal;
    const Place own = OfWorker(faults_, worker);
    if (const Place fault = OfOthers(faults_, worker)) {
      return own && IsOfLinks(Event(*own)) ? Later(fault, own) : fault;
    }
    if (own) return own;
    return Later(OfOthers(bad_loads_, worker), OfOthers(exits_, worker));
  }

  Place CauseOfRestart(const EventPlace& start) const {
    if (IncarnationOf(record_, start).number <= 1) return {};
    const int worker = WorkerOf(start);
    if (const Place started = OfWorker(started_, worker)) return started;
    const Place loss = OfAll(losses_);
    const Place own_start = OfWorker(starts_, worker);
    const auto is_new = [&](const Place& place) {
      return place && own_start && Event(*place).t_ns >= Event(*own_start).t_ns;
    };
    if (is_new(loss)) return loss;
    for (const Place& place :
         {OfWorker(exits_, worker), OfWorker(faults_, worker), OfAll(faults_),
          OfAll(exits_)}) {
      if (is_new(place)) return place;
    }
    return {};
  }

  // Returns the newest occurrence of a fault for which `is_one` returns true.
  template <typename Predicate>
  Place FaultThat(const Predicate& is_one) const {
    Place last;
    for (const auto& [worker, place] : faults_) {
      for (const RecordFault& fault : record_.faults) {
        if (fault.id == Event(place).detail && is_one(fault)) {
          last = Later(last, place);
        }
      }
    }
    return last;
  }
  // Returns true iff the fault sends a preemption notice, and kills the worker
  // after a grace period.
  bool GrantsGrace(const RecordEvent& fired) const {
    const RecordFault* const fault = FindFault(record_, fired.detail);
    return fault != nullptr && fault->grace_ns > 0;
  }
  // Returns true iff the fault hinders the connections of its worker.
  bool IsOfLinks(const RecordEvent& fired) const {
    const RecordFault* const fault = FindFault(record_, fired.detail);
    return fault != nullptr && TraitsOf(*fault).hinders == HinderedPart::kLinks;
  }
  static bool CutsPower(const RecordFault& fault) {
    return fault.kind == "power_loss" || fault.then == "power_loss";
  }

  // Returns the newest damage to a file of the checkpoint at this path.
  Place DamageTo(std::string_view path) const {
    const auto found = damage_to_.find(BaseName(path));
    return found == damage_to_.end() ? Place() : Place(found->second);
  }

  // Returns the kill of the launcher, or the power loss, after which it was
  // restarted.
  Place CauseOfLaunch() const {
    const Place before = OfWorker(starts_, kLauncherWorker);
    const Place cause =
        Later(cut_, FaultThat([](const RecordFault& fault) {
                return fault.kind == "kill_launcher" || CutsPower(fault);
              }));
    const bool is_new =
        before && cause && Event(*cause).t_ns >= Event(*before).t_ns;
    return is_new ? cause : Place();
  }

  Place CauseOfExit(const EventPlace& exit) const {
    if (Event(exit).count == 0) return {};
    Place cause =
        MayBeDueToAFile(Event(exit).reason) ? OfAll(damaged_) : Place();
    for (const ByWorker* newest :
         {&losses_, &stops_, &fenced_, &faults_, &bad_loads_}) {
      const Place own = OfWorker(*newest, WorkerOf(exit));
      if (own && own->incarnation == exit.incarnation)
        cause = Later(cause, own);
    }
    return cause;
  }

  Place CauseOf(const EventPlace& place) const {
    const int worker = WorkerOf(place);
    const Place start = OfWorker(starts_, worker);
    switch (Event(place).kind) {
      case RecordKind::kWorkerLost:
        return CauseOfLoss(place);
      case RecordKind::kLeft:
        return Later(CauseOfLoss(place), OfWorker(losses_, worker));
      case RecordKind::kWorkerStarted:
        return CauseOfRestart(place);
      case RecordKind::kWorkerExited:
        return CauseOfExit(place);
      case RecordKind::kLauncherBegin:
        return CauseOfLaunch();
      case RecordKind::kPowerCut:
        return FaultThat(CutsPower);
      case RecordKind::kResumed:
      case RecordKind::kInitialized:
      case RecordKind::kResumedFromMemory: {
        const Place left = OfWorker(left_, worker);
        if (left && left->incarnation == place.incarnation) return left;
        return start && causes_.contains(*start) ? start : Place();
      }
      case RecordKind::kNotice:
        return OfAll(faults_);
      case RecordKind::kStopAgreed:
        return OfAll(notices_);
      case RecordKind::kSaveFailed:
      case RecordKind::kDamaged:
        return OwnFault(place);
      case RecordKind::kRejected:
      case RecordKind::kLoadFailed: {
        const Place damage = DamageTo(Event(place).path);
        return damage ? damage : Later(OfAll(damaged_), OwnFault(place));
      }
      case RecordKind::kLoaded:
        return DamageTo(Event(place).path);
      case RecordKind::kFencedOut:
        return OfOthers(claims_, worker);
      default:
        return CauseOfLaunchersAct(Event(place));
    }
  }

  // Returns the fault that sent a preemption notice to the worker, if the
  // fault's grace period was over when the worker was killed. Such a fault
  // kills the worker at the end of the period.
  Place NoticeThatKills(const RecordEvent& exit) const {
    const Place notice =
        OfWorker(grants_, exit.about.value_or(kLauncherWorker));
    if (exit.reason != RecordReason::kSignal || !notice) return {};
    return IsOver(*notice, exit.t_ns) ? notice : Place();
  }

  // Returns true iff the grace period of this notice has ended at this time.
  bool IsOver(const EventPlace& notice, int64_t t_ns) const {
    const RecordFault* const fault = FindFault(record_, Event(notice).detail);
    return fault != nullptr && t_ns - Event(notice).t_ns >= fault->grace_ns;
  }

  // Returns the cause of an event of a launcher. Such an event names the worker
  // that it concerns, if any.
  Place CauseOfLaunchersAct(const RecordEvent& event) const {
    const int about = event.about.value_or(kLauncherWorker);
    switch (event.kind) {
      case RecordKind::kExited:
        if (event.reason == RecordReason::kExited && event.count == 0) {
          return {};
        }
        if (const Place notice = NoticeThatKills(event)) {
          return Later(notice, OfWorker(kills_, about));
        }
        return Later(Later(OfWorker(exits_, about), OfWorker(faults_, about)),
                     OfWorker(kills_, about));
      case RecordKind::kAttemptEnds:
        // The end of an attempt with a result has no cause: the newest exit or
        // loss may belong to an earlier attempt.
        if (event.reason == RecordReason::kResult) return {};
        return Later(OfWorker(exited_, about),
                     OfWorker(losses_, kLauncherWorker));
      case RecordKind::kRestarting:
        return Later(OfWorker(attempts_, kLauncherWorker), OfAll(exited_));
      case RecordKind::kKillSent:
      case RecordKind::kGaveUp:
        return OfWorker(attempts_, kLauncherWorker);
      case RecordKind::kStarted:
        return event.incarnation > 1
                   ? Later(OfWorker(restarts_, kLauncherWorker), relaunch_)
                   : Place();
      default:
        return {};
    }
  }

  void Add(const EventPlace& place) {
    ByWorker* newest = nullptr;
    switch (Event(place).kind) {
      case RecordKind::kWorkerStarted:
        newest = &starts_;
        // Events before a restart cannot explain later losses.
        if (IncarnationOf(record_, place).number > 1) Forget(place);
        break;
      case RecordKind::kLauncherBegin:
        if (causes_.contains(place)) relaunch_ = place;
        newest = &starts_;
        break;
      case RecordKind::kPowerCut:
        cut_ = place;
        break;
      case RecordKind::kFaultFired:
        if (GrantsGrace(Event(place))) {
          grants_.insert_or_assign(WorkerOf(place), place);
        }
        newest = &faults_;
        break;
      case RecordKind::kWorkerLost:
        newest = &losses_;
        break;
      case RecordKind::kWorkerExited:
        if (Event(place).count != 0) newest = &exits_;
        break;
      case RecordKind::kLeft:
        newest = &left_;
        break;
      case RecordKind::kNotice:
        newest = &notices_;
        break;
      case RecordKind::kStopAgreed:
        newest = &stops_;
        break;
      case RecordKind::kFencedOut:
        newest = &fenced_;
        break;
      case RecordKind::kDamaged:
        damage_to_.insert_or_assign(CheckpointOfFile(Event(place).path), place);
        newest = &damaged_;
        break;
      case RecordKind::kRejected:
      case RecordKind::kLoadFailed:
        newest = &bad_loads_;
        break;
      // The worker found a state to train from.
      case RecordKind::kResumed:
      case RecordKind::kInitialized:
      case RecordKind::kResumedFromMemory:
      case RecordKind::kStep:
        bad_loads_.erase(WorkerOf(place));
        break;
      case RecordKind::kGeneration:
        newest = &claims_;
        break;
      case RecordKind::kAttemptEnds:
        newest = &attempts_;
        break;
      case RecordKind::kRestarting:
        newest = &restarts_;
        break;
      case RecordKind::kExited:
        return SetNewestAbout(exited_, place);
      case RecordKind::kKillSent:
        return SetNewestAbout(kills_, place);
      case RecordKind::kStarted:
        return SetNewestAbout(started_, place);
      default:
        break;
    }
    if (newest != nullptr) {
      newest->insert_or_assign(WorkerOf(place), place);
    }
  }

  void SetNewestAbout(ByWorker& newest, const EventPlace& place) {
    if (Event(place).about) newest.insert_or_assign(*Event(place).about, place);
  }

  // Forgets earlier faults, failed loads and exits of a restarted worker: they
  // cause no later events.
  void Forget(const EventPlace& start) {
    faults_.erase(WorkerOf(start));
    grants_.erase(WorkerOf(start));
    bad_loads_.erase(WorkerOf(start));
    exits_.erase(WorkerOf(start));
  }

  const Record& record_;
  std::map<EventPlace, EventPlace> causes_;
  // Newest event of each kind, by worker.
  ByWorker starts_, faults_, grants_, losses_, exits_, left_, notices_, stops_,
      fenced_, damaged_, claims_;
  std::map<std::string_view, EventPlace> damage_to_;  // newest, by checkpoint
  // Newest checkpoint that the worker rejected or failed to load, until it has
  // a state to train from.
  ByWorker bad_loads_;
  // Newest event of the launcher itself, or about each worker.
  ByWorker attempts_, restarts_, exited_, kills_, started_;
  Place relaunch_;  // start of a launcher that was restarted
  Place cut_;       // newest power loss
};

}  // namespace

Record WithLaunchers(const Record& record) {
  Record whole = record;
  for (size_t i = 0; i < record.launchers.size(); ++i) {
    const std::vector<RecordEvent>& events = record.launchers[i].events;
    if (events.empty()) continue;
    whole.incarnations.push_back({.worker = kLauncherWorker,
                                  .number = static_cast<int>(i) + 1,
                                  .events = events});
  }
  return whole;
}

const RecordEvent& EventAt(const Record& record, const EventPlace& place) {
  return record.incarnations[place.incarnation].events[place.index];
}

const IncarnationEvents& IncarnationOf(const Record& record,
                                       const EventPlace& place) {
  return record.incarnations[place.incarnation];
}

std::vector<EventPlace> EventsByTime(const Record& record) {
  std::vector<EventPlace> places;
  for (size_t incarnation = 0; incarnation < record.incarnations.size();
       ++incarnation) {
    for (size_t i = 0; i < record.incarnations[incarnation].events.size();
         ++i) {
      places.push_back({.incarnation = incarnation, .index = i});
    }
  }
  std::ranges::stable_sort(places, {}, [&record](const EventPlace& place) {
    const RecordEvent& event = EventAt(record, place);
    return TimeOf(event);
  });
  return places;
}

std::map<EventPlace, EventPlace> CausesOf(const Record& record) {
  return CauseFinder(record).Find();
}

}  // namespace gauntlet
