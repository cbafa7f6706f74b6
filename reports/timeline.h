// Timeline of a run: the events of its record as rows of a table with one
// column for each worker.
#ifndef GAUNTLET_REPORTS_TIMELINE_H_
#define GAUNTLET_REPORTS_TIMELINE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/record/record.h"
#include "harness/record/text/value_text.h"

namespace gauntlet {

// Number of the launcher as an emitter, alongside the workers' numbers.
inline constexpr int kLauncherColumn = -1;
// Returns "worker 3" or "launcher".
std::string EmitterName(int worker);

enum class RoutineEvents : uint8_t {
  // Steps, evaluations, epochs and saves are in ranges ("steps 3-7"). Repeated
  // events of a worker are merged ("38 times until 12.400s"). The times of
  // saves and starts are left out.
  kFolded,
  kListed,  // each event is a row
};

// A position in a run: the time since its first event, or a step. An event
// belongs to the last step that its worker had reached by then. An event of the
// launcher belongs to the step that any worker reached last. With a bound in
// steps, the effects of shown events are shown too.
struct TimelineBound {
  enum class Unit : uint8_t { kNanoseconds, kStep };
  Unit unit = Unit::kStep;
  uint64_t value = 0;
};

struct TimelineFilter {
  RoutineEvents routine = RoutineEvents::kFolded;
  std::vector<int> workers;  // empty: all
  std::optional<TimelineBound> from;
  std::optional<TimelineBound> to;
};

// The cell of a worker in a row: one event, or several that are folded or
// repeated. The text of repeated events has "5..80" in place of numbers that
// differ.
struct TimelineCell {
  int worker = 0;
  int incarnation = 1;
  std::string kind;  // the event's name in records; "routine": several, folded
  uint64_t first_step = 0;  // smallest step of the events
  uint64_t last_step = 0;   // largest step of the events
  size_t events = 1;
  std::string text;
  // Number of the row with the event's cause; 0: none. For repeated events, the
  // first event's cause counts.
  size_t cause = 0;
};

enum class RowTone : uint8_t {
  kRoutine,
  kPlain,
  kFault,
  kDetection,  // a loss, a rejected checkpoint, an exit with an error
  kRecovery,   // a restart, a resumption
};

struct TimelineRow {
  size_t number = 1;  // position in the timeline
  // Time from the first event of the run to the first event that the row's
  // texts name.
  int64_t t_ns = 0;
  int64_t until_ns = 0;  // time of the row's last event
  RowTone tone = RowTone::kPlain;
  std::vector<TimelineCell> cells;  // ascending by worker
};

struct Timeline {
  std::string title;         // the case, its world and set-up
  std::vector<int> columns;  // emitters, ascending
  size_t events = 0;         // number before the filter (CountEvents)
  std::vector<TimelineRow> rows;
  std::vector<std::string> ends;  // how the run and its launchers ended
};

// Returns the number of events of workers and launchers, and of power losses.
size_t CountEvents(const Record& record);

// Returns the time in ns from the first event of a run to its last one.
int64_t TimeOfEvents(const Record& record);
Timeline TimelineOf(const Record& record, const TimelineFilter& filter);

// Returns one line of JSON, schema gauntlet.timeline/v1:
// {"schema":…,"title":…,"rows":[{"row":1,"t_ns":0,"until_ns":0,
//  "cells":[{"worker":0,"incarnation":1,"kind":…,"first_step":0,"last_step":0,
//  "events":1,"text":…,"caused_by":null}]}],"ends":[…]}
// The launcher is worker -1; caused_by is the number of a row.
std::string TimelineToJson(const Timeline& timeline);

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_TIMELINE_H_
