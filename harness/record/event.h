// Events, as a record holds them: what workers said of themselves.
//
// The names are those of the engine's event log, but this library knows nothing
// of the engine: a trainer written elsewhere can leave such events too.
#ifndef GAUNTLET_HARNESS_RECORD_EVENT_H_
#define GAUNTLET_HARNESS_RECORD_EVENT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gauntlet {

// What happened; which fields count for each is said beside it. The others stay
// zero or empty.
enum class RecordKind : uint8_t {
  kLifeBegin,         // a worker process starts
  kGeneration,        // generation; path: parent, or ""; count: as for saves
  kResumed,           // step, epoch, position, digest; path: checkpoint;
                      // count: as of kSaveAcknowledged
  kInitialized,       // a cold start: digest of the initial state
  kStep,              // step, epoch, position before it, phase, digest, loss,
                      // samples
  kEvaluated,         // step, epoch, phase, digest, loss, count (correct)
  kEpochEnd,          // step, epoch, digest, loss, count (correct)
  kSaveBegin,         // step; path
  kSaveAcknowledged,  // step, digest; path; count: the first step that was not
                      // finite, where the state is of such a run
  kSaveFailed,        // step; detail
  kRetired,           // path
  kRejected,          // path; detail: why
  kFencedFound,       // path: void by the lineage, not read
  kFencedOut,         // this worker learned that it is of an old generation
  kNotice,            // a termination notice was seen
  kStopAgreed,        // step: all workers stop here
  kWorkerLost,        // detail: which, how it was noticed
  kFaultFired,        // detail: the fault's id; path: the point
  kLoaded,            // step, digest; path: what was read and verified
  kBackupDeleted,     // path
  kFinished,          // step, epoch, digest; count: as of kSaveAcknowledged
  kLifeEnd,           // count: exit code; detail: reason
  kLeft,              // generation that it left to rejoin; step; detail: why
  kCarriedOn,         // generation, step, epoch, position, phase, digest: goes
                      // on from memory; detail: "kept", or whose it was
  kDamaged,           // path: a file that a fault damages in silence; detail:
                      // the fault's id
  kSaveCopied,        // step, phase; count: bytes; detail: how long the save
                      // waited for the one before
  kResultAcknowledged,  // the launcher has the result of this worker
  kNotFinite,           // step, epoch, loss; detail: what is not finite
};

std::string_view RecordKindName(RecordKind kind);
std::optional<RecordKind> FindRecordKind(std::string_view name);

// Which of the boundaries of an epoch a state stands at.
enum class RecordPhase : uint8_t { kInEpoch, kEvaluationDue, kCallbacksDue };
std::string_view RecordPhaseName(RecordPhase phase);
std::optional<RecordPhase> FindRecordPhase(std::string_view name);

struct RecordEvent {
  RecordKind kind = RecordKind::kLifeBegin;
  int64_t t_ns = 0;  // monotonic; comparable between workers of one run
  uint64_t generation = 0;
  uint64_t step = 0;
  uint64_t epoch = 0;
  uint64_t position = 0;  // in samples of the epoch's order
  RecordPhase phase = RecordPhase::kInEpoch;
  int64_t count = 0;
  uint32_t loss_bits = 0;  // of a float32
  std::string digest;      // 32 hex digits, or empty
  std::string path;
  std::string detail;
  std::vector<uint32_t> samples;  // dataset rows that this worker used

  bool operator==(const RecordEvent&) const = default;
};

// All that one process said, in its order.
struct LifeEvents {
  int worker = 0;
  int life = 1;  // 1 for a worker's first process
  std::vector<RecordEvent> events;

  bool operator==(const LifeEvents&) const = default;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RECORD_EVENT_H_
