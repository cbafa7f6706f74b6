// Infers causes and effects among the events of a record.
#ifndef GAUNTLET_REPORTS_EVENTS_CAUSES_H_
#define GAUNTLET_REPORTS_EVENTS_CAUSES_H_

#include <compare>
#include <cstddef>
#include <map>
#include <vector>

#include "harness/record/record.h"

namespace gauntlet {

// Position of an event in a record.
struct EventPlace {
  size_t incarnation = 0;  // index into Record::incarnations
  size_t index = 0;        // index into IncarnationEvents::events

  auto operator<=>(const EventPlace&) const = default;
};

// Returns a copy of the record in which each launcher is also an incarnation,
// of worker kLauncherWorker. The functions below find launchers only there.
Record WithLaunchers(const Record& record);

// REQUIRES: `place` is the position of an event of the record.
const RecordEvent& EventAt(const Record& record, const EventPlace& place);
const IncarnationEvents& IncarnationOf(const Record& record,
                                       const EventPlace& place);

// Returns the places of all events, ordered by time; events at the same time
// are ordered by RecordEvent::order.
std::vector<EventPlace> EventsByTime(const Record& record);

// Returns a map from each effect to the event that caused it. A chain goes from
// a fault through its detection and the restart to the resumption.
//
// A launcher's event names the worker that it concerns; all other causes are
// inferred from kinds and order of the events. The result is for people who
// read about a run; no verdict uses it.
std::map<EventPlace, EventPlace> CausesOf(const Record& record);

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_EVENTS_CAUSES_H_
