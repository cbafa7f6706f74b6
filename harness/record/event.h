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
  // A wait for another rank failed, or the launcher's for a worker. about:
  // whom, nullopt for a task of its own; reason: kClosed, kSilent, kDeadline,
  // kRefused; limit: how long it waited at the most.
  kWorkerLost,
  kFaultFired,     // detail: the fault's id; path: the point
  kLoaded,         // step, digest; path: what was read and verified
  kBackupDeleted,  // path
  kFinished,       // step, epoch, digest; count: as of kSaveAcknowledged
  // count: exit code; reason; step: of a state that could not be saved, or 0
  kLifeEnd,
  kLeft,        // generation that it left to rejoin; step; detail: why
  kCarriedOn,   // generation, step, epoch, position, phase, digest: goes
                // on from memory; detail: "kept", or whose it was
  kDamaged,     // path: a file that a fault damages in silence; detail:
                // the fault's id
  kSaveCopied,  // step, phase; count: bytes; detail: how long the save
                // waited for the one before
  kResultAcknowledged,  // the launcher has the result of this worker
  kNotFinite,           // step, epoch, loss; detail: what is not finite
  // What a worker is about to do, said before anything of it.
  kClaimBegin,   // count: the generation that it tries for
  kRetireBegin,  // path
  kRejectBegin,  // path
  kDeleteBegin,  // path
  kLoadFailed,   // path: it verified when it was chosen; reason
  kLeaving,      // generation: its connections are about to be closed
  kFaultAgain,   // as kFaultFired, of a fault that has fired in this process
  // What a launcher says. about: a worker; incarnation: its newest.
  kLauncherBegin,
  kStarted,         // about, incarnation; count: rank
  kAskedToStop,     // about, incarnation
  kKillSent,        // about, incarnation; reason
  kExited,          // about, incarnation; count: exit code, or 128 + signal;
                    // reason: kExited, kSignal, kUnreachable
  kAttemptEnds,     // reason; about: whose exit ends it
  kRestarting,      // about: who is to blame, if anybody; count: how many by
                    // now; limit: the pause
  kGaveUp,          // reason
  kResultReceived,  // about; step
  kLauncherEnd,     // count: exit code
  // What a simulated machine does.
  kProcessEnded,  // as kExited
  kPowerCut,      // path: the host; detail: the disk's profile; about,
                  // incarnation: whose host, where only that one stops
  kFrameLate,     // of a worker's connections: detail: the fault, if any; limit
};

// Why something happens. Which ones an event may have is said beside its kind.
enum class RecordReason : uint8_t {
  kNone,
  kClosed,  // of a failed wait: the other end closed the connection
  kSilent,  // no heartbeat came
  kDeadline,
  kRefused,     // by the chief, which does not take it in any more
  kLostWorker,  // why a worker leaves: what it could not go on from
  kDevice,
  kSuperseded,
  kBadInput,
  kDiskError,
  kDiskFull,
  kForbidden,
  kMissingFile,
  kBadData,
  kPrecondition,
  kOtherJob,
  kCancelled,
  kExited,  // how a process ended
  kSignal,
  kUnreachable,
  kWorkerDone,  // why a launcher ends an attempt, or kills a worker
  kWorkerLeft,
  kWorkerDied,
  kResult,
  kChiefSilent,
  kNotStarted,
  kTooManyLosses,
  kInterrupted,
  kGraceOver,
  kAttemptOver,
  kNoSign,
  kRestartsUsedUp,  // why it gives up
  kNoProgress,
  kTooFewWorkers,
  kKeptForGood,  // why a checkpoint stays beside the newest ones
};
std::string_view RecordReasonName(RecordReason reason);
std::optional<RecordReason> FindRecordReason(std::string_view name);

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
  std::optional<int> about;       // a rank, or a worker
  int incarnation = 0;            // of that worker
  RecordReason reason = RecordReason::kNone;
  int64_t limit_ns = 0;
  // The place among all events of the run; 0: only times tell.
  uint64_t order = 0;

  bool operator==(const RecordEvent&) const = default;
};

// What an event file says instead of a worker where it is a launcher's.
inline constexpr int kLauncherWorker = -1;

// All that one process said, in its order.
struct LifeEvents {
  int worker = 0;
  int life = 1;  // 1 for a worker's first process
  std::vector<RecordEvent> events;

  bool operator==(const LifeEvents&) const = default;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RECORD_EVENT_H_
