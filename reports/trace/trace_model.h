// A record as slices of time on the tracks of its processes: the content of a
// trace, without a file format.
#ifndef GAUNTLET_REPORTS_TRACE_TRACE_MODEL_H_
#define GAUNTLET_REPORTS_TRACE_TRACE_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/record/record.h"
#include "reports/events/causes.h"
#include "reports/events/process_spans.h"

namespace gauntlet {

// Emitter of the events of a simulated machine, beside kLauncherWorker.
inline constexpr int kMachineEmitter = -2;

// Activities of one process that may overlap in time.
enum class TraceTrack : uint8_t {
  kCompute,        // steps, evaluations, epochs
  kCommunication,  // claims and meetings
  kCheckpoint,     // saves, loads, removals
  kControl,        // incarnations, restart pauses, markers
};
std::string_view TraceTrackName(TraceTrack track);

struct TimeSpan {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;

  bool operator==(const TimeSpan&) const = default;
};

struct TraceSlice {
  EventPlace event;  // describes the slice
  TraceTrack track = TraceTrack::kControl;
  std::string_view category;
  std::string name;
  TimeSpan span;
  bool cut_short = false;  // its process ended before it did
  // A short slice that stands for an event, so that arrows can end at it.
  bool is_marker = false;
  size_t order = 0;  // a marker's position among those of all processes
  // Number of steps; 0 if the slice contains none. Steps of one segment follow
  // one another without an incident.
  uint64_t steps = 0;
  uint64_t first_step = 0;
  size_t segment = 0;
};

struct TraceInstant {
  EventPlace event;
  std::string_view category;
};

// The event sets the training position of its process.
struct TracePosition {
  EventPlace event;
};

struct TraceArrow {
  EventPlace cause;
  EventPlace effect;
};

struct TraceModel {
  // The record with launchers and the machine as processes. Times count from
  // the first event and never decrease within a process.
  Record record;
  int64_t first_event_ns = 0;          // in the original record
  std::vector<ProcessSpan> processes;  // by index in Record::lives
  std::vector<TraceSlice> slices;      // by process, then by their ends
  std::vector<TraceInstant> instants;
  std::vector<TracePosition> positions;  // except those that steps set
  std::vector<TraceArrow> arrows;  // both ends have markers among the slices
};

TraceModel TraceModelOf(const Record& record);

// Returns true iff the event is rare enough to stay in every trace: faults,
// notices, losses, exits and the like.
bool IsIncident(RecordKind kind);

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_TRACE_TRACE_MODEL_H_
