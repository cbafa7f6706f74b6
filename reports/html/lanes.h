// Contents of the lanes of a picture of a run: processes, saves and marks.
#ifndef GAUNTLET_REPORTS_HTML_LANES_H_
#define GAUNTLET_REPORTS_HTML_LANES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/record/record.h"

namespace gauntlet {

// One process, drawn as a bar.
struct Incarnation {
  size_t life = 0;  // index into Record::lives
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  bool died = false;   // ended without an exit of its own
  std::string ending;  // "exit code 75", "killed"
};

// `record` holds launchers as well (WithLaunchers). Lives without events are
// left out.
std::vector<Incarnation> IncarnationsOf(const Record& record);

struct SaveInterval {
  enum class State : uint8_t { kStarted, kCommitted, kFailed };
  State state = State::kStarted;
  uint64_t step = 0;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;  // of a save that only started: its begin
};

// Saves by one process, in the order of their ends.
std::vector<SaveInterval> SavesOf(const LifeEvents& life);

// Part that an event plays in a failure and the recovery from it.
enum class Mark : uint8_t {
  kFault,
  kNotice,     // a preemption notice
  kDetection,  // a loss is detected, an attempt is given up
  kRejected,   // a save fails, a checkpoint is rejected
  kRestart,    // the launcher restarts the workers
  kResume,
};

// nullopt: the event is not marked.
std::optional<Mark> MarkOf(const LifeEvents& life, const RecordEvent& event);

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_HTML_LANES_H_
