// Causes and effects among the events of a record.
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
  size_t life = 0;   // index into Record::lives
  size_t index = 0;  // index into its events

  auto operator<=>(const EventPlace&) const = default;
};

// The record with each launcher as one more process, kLauncherWorker, among the
// workers. The functions below find launchers only there.
Record WithLaunchers(const Record& record);

// REQUIRES: `place` is the position of an event of the record.
const RecordEvent& EventAt(const Record& record, const EventPlace& place);
const LifeEvents& LifeOf(const Record& record, const EventPlace& place);

// All events of the record by time; those of one time by worker, incarnation
// and their order in the record.
std::vector<EventPlace> EventsByTime(const Record& record);

// The event that caused each effect, by effect. A chain goes from a fault
// through its detection and the restart to the resumption.
//
// A launcher's event names the worker that it concerns; the rest is inferred
// from kinds and order of the events. Meant for people who read a run, never
// for a verdict.
std::map<EventPlace, EventPlace> CausesOf(const Record& record);

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_EVENTS_CAUSES_H_
