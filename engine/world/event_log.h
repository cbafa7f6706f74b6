// What a process says of itself while it runs: the raw material of a record.
//
// An event that Emit returned from is kept even if the process is killed at the
// next instruction, and is never on the storage that faults are put into.
#ifndef GAUNTLET_ENGINE_WORLD_EVENT_LOG_H_
#define GAUNTLET_ENGINE_WORLD_EVENT_LOG_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/digest.h"

namespace gauntlet {

enum class EventKind : uint8_t {
  kLifeBegin,   // rank
  kGeneration,  // generation; path: parent, or ""; count: as kSaveAcknowledged
  // step, epoch, position, digest; path: checkpoint; count: as of
  // kSaveAcknowledged
  kResumed,
  kInitialized,  // a cold start: digest of the initial state
  kStep,         // step, epoch, position (before it), phase, digest, loss,
                 // samples
  kEvaluated,    // step, epoch, phase, digest, loss, count (correct)
  kEpochEnd,     // epoch, loss, count (correct): once an epoch's metrics stand
  kSaveBegin,    // step; path
  // step, digest; path; count: CheckpointHead::not_finite_since, 0 for none
  kSaveAcknowledged,
  kSaveFailed,     // step; detail
  kRetired,        // path
  kRejected,       // path; detail: why
  kFencedFound,    // path: void by the lineage, not read
  kFencedOut,      // this process learned that it is of an old generation
  kNotice,         // a termination notice was seen
  kStopAgreed,     // step: all workers stop here
  kWorkerLost,     // detail: which, how it was noticed
  kFaultFired,     // detail: the fault's id; path: the point
  kLoaded,         // step, digest; path: what was read and passed verification
  kBackupDeleted,  // path
  kFinished,       // step, epoch, digest; count: as kSaveAcknowledged
  kLifeEnd,        // count: exit code; detail: reason
  kLeft,  // generation that this process left to rejoin; step; detail: why
  // In a new generation with a state from memory: generation, step, epoch,
  // position, phase, digest; detail: "kept", or from whom it was taken.
  kCarriedOn,
  kDamaged,  // path: a file that a fault damages; detail: the fault's id
  // A copy was taken, which a task writes: step, phase; count: bytes; detail:
  // how long the save waited for the one before, if it did.
  kSaveCopied,
  // The launcher has the result: nothing of the run is needed any more.
  kResultAcknowledged,
  // The first step of this generation after which the loss, or else the state,
  // is not finite: generation, step, epoch, loss; detail: what it is.
  kNotFinite,
};

// "step", "save_acknowledged" …: the names in event files.
std::string_view EventKindName(EventKind kind);
std::optional<EventKind> FindEventKind(std::string_view name);

// Which of the boundaries of an epoch a state stands at.
enum class Phase : uint8_t { kInEpoch, kEvaluationDue, kCallbacksDue };
std::string_view PhaseName(Phase phase);
std::optional<Phase> FindPhase(std::string_view name);

// One event. Which fields count is said beside its kind; the rest stay zero.
struct LogEvent {
  EventKind kind = EventKind::kLifeBegin;
  uint64_t generation = 0;
  uint64_t step = 0;
  uint64_t epoch = 0;
  uint64_t position = 0;  // in samples of the epoch's permutation
  Phase phase = Phase::kInEpoch;
  int64_t count = 0;
  uint32_t loss_bits = 0;  // of a float32
  std::optional<Digest> digest;
  std::string path;
  std::string detail;
  std::vector<uint32_t> samples;  // dataset rows that this worker used
};

class EventLog {
 public:
  virtual ~EventLog() = default;
  // Stamps the time and keeps the event. Safe from any task.
  virtual void Emit(LogEvent event) = 0;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_WORLD_EVENT_LOG_H_
