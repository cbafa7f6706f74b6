// Events of a record: what each process reported while it ran.
//
// The names of kinds and reasons are those of the engine's event log
// (engine/world/event_vocabulary.h). But this library does not link the engine,
// so that other trainers can write records too.
#ifndef GAUNTLET_HARNESS_RECORD_EVENT_H_
#define GAUNTLET_HARNESS_RECORD_EVENT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/world/event_vocabulary.h"

namespace gauntlet {

using RecordKind = EventKind;
using RecordReason = Reason;
using RecordPhase = Phase;

inline std::string_view RecordKindName(RecordKind kind) {
  return EventKindName(kind);
}
inline std::optional<RecordKind> FindRecordKind(std::string_view name) {
  return FindEventKind(name);
}
inline std::string_view RecordReasonName(RecordReason reason) {
  return ReasonName(reason);
}
inline std::optional<RecordReason> FindRecordReason(std::string_view name) {
  return FindReason(name);
}
inline std::string_view RecordPhaseName(RecordPhase phase) {
  return PhaseName(phase);
}
inline std::optional<RecordPhase> FindRecordPhase(std::string_view name) {
  return FindPhase(name);
}

// Time spent on one part of an operation: "write", "exchange" …
struct RecordTime {
  std::string part;
  int64_t took_ns = 0;

  bool operator==(const RecordTime&) const = default;
};

// The comment on each EventKind lists the fields that an event of this kind
// sets.
struct RecordEvent {
  RecordKind kind = RecordKind::kWorkerStarted;
  int64_t t_ns = 0;  // monotonic time, comparable between processes of a run
  uint64_t generation = 0;
  uint64_t step = 0;
  uint64_t epoch = 0;
  uint64_t position = 0;  // samples of the epoch that were used so far
  RecordPhase phase = RecordPhase::kInEpoch;
  int64_t count = 0;
  uint32_t loss_bits = 0;  // bits of a float32
  std::string digest;      // 32 hex digits, or empty
  std::string path;
  std::string detail;
  std::vector<uint32_t> samples;  // indices of the samples that the worker used
  std::optional<int> about;       // rank or worker that the event is about
  int incarnation = 0;            // incarnation of that worker
  RecordReason reason = RecordReason::kNone;
  int64_t limit_ns = 0;
  std::vector<RecordTime> parts;
  std::vector<RecordTime> background;  // times of background tasks
  // Position among all events of the run; 0: unknown, so that events are
  // ordered by their times.
  uint64_t order = 0;

  bool operator==(const RecordEvent&) const = default;
};

// Worker number in the event file of a launcher.
inline constexpr int kLauncherWorker = -1;

// Events of one process, in the order in which it emitted them.
struct IncarnationEvents {
  int worker = 0;
  int number = 1;  // of the worker's incarnation; the first has 1
  std::vector<RecordEvent> events;

  bool operator==(const IncarnationEvents&) const = default;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RECORD_EVENT_H_
