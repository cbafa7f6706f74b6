#include "harness/explore/life_end.h"

#include <algorithm>

#include "engine/worker_exit_code.h"
#include "harness/oracle/fault_traits.h"

namespace gauntlet {
namespace {

bool MayEndLives(const Firing& firing) {
  const FaultTraits& traits = firing.traits;
  return traits.may_end_life || traits.gives_notice;
}

// Other faults by which workers of that life of the job may have been lost.
bool IsAlone(const Outline& outline, const Firing& firing) {
  return std::ranges::none_of(outline.firings, [&](const Firing& other) {
    const bool it = other.life == firing.life && other.index == firing.index;
    return !it && MayEndLives(other) && other.life->life == firing.life->life;
  });
}

// Returns true iff another worker of the same attempt emitted such an event
// between the fault and `until`.
template <typename Predicate>
bool AnotherSaid(const Outline& outline, const Firing& firing, int64_t until,
                 Predicate predicate) {
  const int64_t from = firing.event().t_ns;
  for (const LifeEvents& life : outline.record.lives) {
    if (&life == firing.life || life.life != firing.life->life) continue;
    for (const RecordEvent& event : life.events) {
      if (event.t_ns >= from && event.t_ns <= until && predicate(event)) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace

bool Has(const LifeEvents& life, RecordKind kind) {
  return std::ranges::find(life.events, kind, &RecordEvent::kind) !=
         life.events.end();
}

bool HasThen(const LifeEvents& life, RecordKind first, RecordKind second) {
  const auto begin = std::ranges::find(life.events, first, &RecordEvent::kind);
  return std::find_if(begin, life.events.end(), [&](const RecordEvent& event) {
           return event.kind == second;
         }) != life.events.end();
}

bool HasAfter(const Firing& firing, RecordKind kind) {
  const std::vector<RecordEvent>& events = firing.life->events;
  return std::any_of(
      events.begin() + static_cast<ptrdiff_t>(firing.index), events.end(),
      [kind](const RecordEvent& event) { return event.kind == kind; });
}

bool DiedThere(const Firing& firing) {
  return firing.traits.ends_life &&
         firing.index + 1 == firing.life->events.size();
}

bool DiedAt(const Firing& firing, Point point) {
  const bool waits = firing.fault->kind == "torn_write" &&
                     InfoOf(point).next != StorageOperation::kWrite;
  return !waits && firing.event().path == PointName(point) && DiedThere(firing);
}

bool GraceRanOut(const Outline& outline, const Firing& notice) {
  const int64_t grace = notice.fault->grace_ns;
  if (!notice.traits.gives_notice || grace <= 0) return false;
  if (Has(*notice.life, RecordKind::kLifeEnd)) return false;
  // The launcher does not let the others of a failed worker live long.
  const auto failed = [](const RecordEvent& event) {
    return event.kind == RecordKind::kLifeEnd && !IsOrderlyExit(event.count);
  };
  return IsAlone(outline, notice) &&
         !AnotherSaid(outline, notice, notice.event().t_ns + grace, failed);
}

bool WasGivenUp(const Outline& outline, const Firing& firing) {
  const auto lost_one = [](const RecordEvent& event) {
    return event.kind == RecordKind::kWorkerLost;
  };
  return !Has(*firing.life, RecordKind::kLifeEnd) && IsAlone(outline, firing) &&
         AnotherSaid(outline, firing, INT64_MAX, lost_one);
}

bool LeftInFailure(const Firing& firing) {
  const RecordEvent& last = firing.life->events.back();
  return last.kind == RecordKind::kLifeEnd && !IsOrderlyExit(last.count);
}

}  // namespace gauntlet
