// Events that a process emits while it runs: the raw material of a record.
//
// Once Emit has returned, its event survives even if the process is killed at
// the next instruction. Events are never on the storage into which faults are
// injected.
#ifndef GAUNTLET_ENGINE_WORLD_EVENT_LOG_H_
#define GAUNTLET_ENGINE_WORLD_EVENT_LOG_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/digest.h"
#include "engine/status.h"
#include "engine/world/event_vocabulary.h"
#include "engine/world/time_split.h"

namespace gauntlet {

// Returns the reason to record for a worker that ends, or leaves a generation,
// because of an error with this code; kNone for kOk.
Reason ReasonOf(Code code);
// Returns the reason to record for a failed wait for another rank.
Reason ReasonOfWait(const Status& status);

// One event. EventKind lists the fields that each kind sets.
struct LogEvent {
  EventKind kind = EventKind::kWorkerStarted;
  uint64_t generation = 0;
  uint64_t step = 0;
  uint64_t epoch = 0;
  uint64_t position = 0;  // number of samples taken in the epoch
  Phase phase = Phase::kInEpoch;
  int64_t count = 0;
  uint32_t loss_bits = 0;  // bits of the float32 loss
  std::optional<Digest> digest;
  std::string path;
  std::string detail;
  std::vector<uint32_t> samples;  // numbers of the samples this worker used
  std::optional<int> about;       // a rank, or a worker
  int incarnation = 0;            // incarnation of worker `about`
  Reason reason = Reason::kNone;
  int64_t limit_ns = 0;
  std::vector<PartTime> parts;
  std::vector<PartTime> background;
};

class EventLog {
 public:
  virtual ~EventLog() = default;
  // Adds the present time and keeps the event. Safe from any task.
  virtual void Emit(LogEvent event) = 0;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_WORLD_EVENT_LOG_H_
