// Spans of a run's processes, from start to end, and the fate of their saves:
// the parts that pictures and traces of a run have in common.
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
  kOrderly,    // done, stopped on a notice or on NaN
  kErrorCode,  // another exit of its own
  kDeath,      // no exit of its own
};

struct ProcessSpan {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  ProcessEnd end = ProcessEnd::kOrderly;
  std::string ending;  // "exited with code 75", "was killed by signal 9"
};

// Returns one span for each of Record::lives, empty if it has no events.
// `record` includes the launchers (WithLaunchers).
//
// The end is the one reported by the machine, else by the launcher. A process
// that the launcher could not reach ends with its last event.
std::vector<ProcessSpan> ProcessSpansOf(const Record& record);

// An end as the machine or a launcher reported it: "exited with code 75", "was
// killed by signal 9", "is out of reach", "could not be started".
std::string EndingText(const RecordEvent& end);

struct SaveSpan {
  enum class State : uint8_t { kCommitted, kFailed, kCutShort };
  State state = State::kCutShort;
  uint64_t step = 0;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  // Indices into the events of the life. A save without a begin has only been
  // acknowledged; one that nothing ended was cut short by the end of the
  // process.
  std::optional<size_t> begin;
  std::optional<size_t> end;
};

// Saves by one process that ends at `end_ns`, in the order of their ends. A
// save that is neither acknowledged nor failed ends as its worker leaves the
// generation, begins the same save again, or ends.
std::vector<SaveSpan> SavesOf(const LifeEvents& life, int64_t end_ns);

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_EVENTS_PROCESS_SPANS_H_
