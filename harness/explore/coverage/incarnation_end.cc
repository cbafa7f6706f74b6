#include "harness/explore/coverage/incarnation_end.h"

#include <algorithm>

#include "engine/worker_exit_code.h"
#include "harness/record/fault_traits.h"

namespace gauntlet {
namespace {

bool MayEndIncarnations(const FaultOccurrence& occurrence) {
  const FaultTraits& traits = occurrence.traits;
  return traits.may_end_incarnation || traits.gives_notice;
}

// Returns true iff no other fault of that attempt may have ended an
// incarnation.
bool IsAlone(const Outline& outline, const FaultOccurrence& occurrence) {
  return std::ranges::none_of(
      outline.occurrences, [&](const FaultOccurrence& other) {
        const bool it = other.incarnation == occurrence.incarnation &&
                        other.index == occurrence.index;
        return !it && MayEndIncarnations(other) &&
               other.incarnation->number == occurrence.incarnation->number;
      });
}

// Returns true iff another worker of the same attempt emitted an event for
// which `predicate` is true, between the fault and `until`.
template <typename Predicate>
bool AnotherEmitted(const Outline& outline, const FaultOccurrence& occurrence,
                    int64_t until, Predicate predicate) {
  const int64_t from = occurrence.event().t_ns;
  for (const IncarnationEvents& incarnation : outline.record.incarnations) {
    if (&incarnation == occurrence.incarnation ||
        incarnation.number != occurrence.incarnation->number)
      continue;
    for (const RecordEvent& event : incarnation.events) {
      if (event.t_ns >= from && event.t_ns <= until && predicate(event)) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace

bool Has(const IncarnationEvents& incarnation, RecordKind kind) {
  return std::ranges::find(incarnation.events, kind, &RecordEvent::kind) !=
         incarnation.events.end();
}

bool HasThen(const IncarnationEvents& incarnation, RecordKind first,
             RecordKind second) {
  const auto begin =
      std::ranges::find(incarnation.events, first, &RecordEvent::kind);
  return std::find_if(begin, incarnation.events.end(),
                      [&](const RecordEvent& event) {
                        return event.kind == second;
                      }) != incarnation.events.end();
}

bool HasAfter(const FaultOccurrence& occurrence, RecordKind kind) {
  const std::vector<RecordEvent>& events = occurrence.incarnation->events;
  return std::any_of(
      events.begin() + static_cast<ptrdiff_t>(occurrence.index), events.end(),
      [kind](const RecordEvent& event) { return event.kind == kind; });
}

bool DiedThere(const FaultOccurrence& occurrence) {
  return occurrence.traits.ends_incarnation &&
         occurrence.index + 1 == occurrence.incarnation->events.size();
}

bool DiedAt(const FaultOccurrence& occurrence, Point point) {
  const bool waits = occurrence.fault->kind == "torn_write" &&
                     InfoOf(point).next != StorageOperation::kWrite;
  return !waits && occurrence.event().path == PointName(point) &&
         DiedThere(occurrence);
}

bool GraceRanOut(const Outline& outline, const FaultOccurrence& notice) {
  if (!GivesNotice(*notice.fault)) return false;
  if (Has(*notice.incarnation, RecordKind::kWorkerExited)) return false;
  // If another worker failed within the grace period, the launcher may have
  // killed this one, because it kills all workers soon after one failed.
  const auto failed = [](const RecordEvent& event) {
    return event.kind == RecordKind::kWorkerExited &&
           !IsOrderlyExit(event.count);
  };
  return IsAlone(outline, notice) &&
         !AnotherEmitted(outline, notice,
                         notice.event().t_ns + notice.fault->grace_ns, failed);
}

bool WasGivenUp(const Outline& outline, const FaultOccurrence& occurrence) {
  const auto lost_one = [](const RecordEvent& event) {
    return event.kind == RecordKind::kWorkerLost;
  };
  return !Has(*occurrence.incarnation, RecordKind::kWorkerExited) &&
         IsAlone(outline, occurrence) &&
         AnotherEmitted(outline, occurrence, INT64_MAX, lost_one);
}

bool LeftInFailure(const FaultOccurrence& occurrence) {
  const RecordEvent& last = occurrence.incarnation->events.back();
  return last.kind == RecordKind::kWorkerExited && !IsOrderlyExit(last.count);
}

}  // namespace gauntlet
