// Time spans of a run's processes and of their saves, for pictures and traces
// of the run.
#ifndef GAUNTLET_REPORTS_EVENTS_PROCESS_SPANS_H_
#define GAUNTLET_REPORTS_EVENTS_PROCESS_SPANS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/record/record.h"

namespace gauntlet {

enum class ProcessEnd : uint8_t {
  kOrderly,    // done, or stopped on a notice or NaN
  kErrorCode,  // any other exit by itself
  kDeath,      // ended from outside
  kRunning,    // still running when the harness ended the run
};

struct ProcessSpan {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  ProcessEnd end = ProcessEnd::kOrderly;
  std::string ending;  // "exited with code 75", "was killed by signal 9"
};

// Returns one span for each of Record::incarnations; the span is empty if the
// incarnation has no events. `record` includes the launchers (WithLaunchers).
//
// The end is the one that the machine reported, else the one that the launcher
// reported. A process ends with its last event if no end was reported, or if
// the launcher could not reach the process. There is one exception: a process
// that still ran when the harness ended the run ends with the run. It is the
// newest incarnation of a worker, has no reported end, recorded no exit, and
// was not ended by a fault.
std::vector<ProcessSpan> ProcessSpansOf(const Record& record);

// Returns the end that the machine or a launcher reported as text: "exited with
// code 75", "was killed by signal 9", "is out of reach", "could not be
// started".
std::string EndingText(const RecordEvent& end);

struct SaveSpan {
  enum class State : uint8_t { kCommitted, kFailed, kCutShort };
  State state = State::kCutShort;
  uint64_t step = 0;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  // Indices into the events of the process. `begin` nullopt: the record has
  // only the acknowledgement or failure. `end` nullopt: the end of the process
  // cut the save short.
  std::optional<size_t> begin;
  std::optional<size_t> end;
};

// Returns the saves of one process that ends at `end_ns`, in the order of their
// ends. A save that is neither acknowledged nor failed ends when its worker
// leaves the generation, begins the same save again, or ends.
std::vector<SaveSpan> SavesOf(const IncarnationEvents& incarnation,
                              int64_t end_ns);

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_EVENTS_PROCESS_SPANS_H_
