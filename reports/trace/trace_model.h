// A record as time slices on the tracks of its processes: the content of a
// trace, independent of a file format.
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

// Emitter of the events of a simulated machine, alongside kLauncherWorker.
inline constexpr int kMachineEmitter = -2;

// Activities of one process that may overlap in time.
enum class TraceTrack : uint8_t {
  kCompute,        // steps, evaluations, epochs
  kCommunication,  // claims and rendezvous
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
  bool cut_short = false;  // the end of its process cut it short
  // True for a short slice at the time of an event, which gives the event's
  // arrows a slice to begin or end at.
  bool is_marker = false;
  size_t order = 0;  // position of a marker among those of all processes
  // Number of steps in the slice, and the first of them; both 0 if the slice
  // contains none. Steps are in one segment if no incident, evaluation or end
  // of an epoch separates them.
  uint64_t steps = 0;
  uint64_t first_step = 0;
  size_t segment = 0;
};

struct TraceInstant {
  EventPlace event;
  std::string_view category;
};

// An event that sets the training position of its process.
struct TracePosition {
  EventPlace event;
};

struct TraceArrow {
  EventPlace cause;
  EventPlace effect;
};

struct TraceModel {
  // The record with launchers and machine added as processes. Times count from
  // the first event and never decrease within a process.
  Record record;
  int64_t first_event_ns = 0;          // in the original record
  std::vector<ProcessSpan> processes;  // by index in Record::incarnations
  std::vector<TraceSlice> slices;      // by process, then by end
  std::vector<TraceInstant> instants;
  std::vector<TracePosition> positions;  // except those set by steps
  std::vector<TraceArrow> arrows;  // both ends are at markers among the slices
};

TraceModel TraceModelOf(const Record& record);

// Returns true iff events of the kind are rare enough to stay in every trace:
// faults, notices, losses, exits and the like.
bool IsIncident(RecordKind kind);

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_TRACE_TRACE_MODEL_H_
