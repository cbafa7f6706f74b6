// Events that a process emits while it runs: the raw material of a record.
//
// Once Emit has returned, its event is kept even if the process is killed at
// the next instruction. Events are never on the storage that faults are put
// into.
#ifndef GAUNTLET_ENGINE_WORLD_EVENT_LOG_H_
#define GAUNTLET_ENGINE_WORLD_EVENT_LOG_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/digest.h"
#include "engine/status.h"
#include "engine/world/time_split.h"

namespace gauntlet {

enum class EventKind : uint8_t {
  kLifeBegin,   // rank
  kGeneration,  // generation; path: parent, or ""; count: as kSaveAcknowledged
  // step, epoch, position, digest; path: checkpoint; count: as of
  // kSaveAcknowledged
  kResumed,
  kInitialized,  // a cold start: digest of the initial state
  kStep,         // step, epoch, position (before it), phase, digest, loss,
                 // samples; parts: since the step before, or kStartTimes
  kEvaluated,    // step, epoch, phase, digest, loss, count (correct)
  kEpochEnd,     // epoch, loss, count (correct): once an epoch's metrics stand
  kSaveBegin,    // step; path
  // step, digest; path; count: CheckpointHead::not_finite_since, 0 for none;
  // reason: kKeptForGood, or none
  kSaveAcknowledged,
  kSaveFailed,   // step; detail
  kRetired,      // path
  kRejected,     // path; detail: why
  kFencedFound,  // path: fenced by the lineage, not read
  kFencedOut,    // this process learned that it is of an old generation
  kNotice,       // a termination notice was seen
  kStopAgreed,   // step: all workers stop here
  // A wait for another rank failed, or the launcher's for a worker. about:
  // whom, nullopt for a task of its own; reason: kClosed, kSilent, kDeadline,
  // kRefused; limit: how long it waited at the most; detail: for people.
  kWorkerLost,
  kFaultFired,     // detail: the fault's id; path: the point
  kLoaded,         // step, digest; path: what was read and passed verification
  kBackupDeleted,  // path
  kFinished,       // step, epoch, digest; count: as kSaveAcknowledged
  // count: exit code; reason; step: of a state that could not be saved, or 0
  kLifeEnd,
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

  // Next action of a worker, emitted before it begins.
  kClaimBegin,   // count: the generation that it tries for
  kRetireBegin,  // path
  kRejectBegin,  // path
  kDeleteBegin,  // path: all checkpoints of a finished run
  kLoadFailed,   // path: it verified when it was chosen; reason
  kLeaving,      // generation: its connections are about to be closed
  kFaultAgain,   // as kFaultFired, of a fault that has fired in this process

  // Events of a launcher. about: a worker; incarnation: its newest.
  kLauncherBegin,
  kStarted,  // about, incarnation; count: rank
  // about, incarnation: a notice was passed on; reason: kUnreachable if the
  // worker may get it late or never
  kAskedToStop,
  // about, incarnation; reason: why it sends SIGKILL, before it does
  kKillSent,
  // about, incarnation, count: exit code, or 128 + signal; reason: kSignal,
  // kExited, kUnreachable (nothing is known of it any more)
  kExited,
  // No worker of this attempt starts again. reason; about: whose exit ends it
  kAttemptEnds,
  // about: who is to blame, if anybody; count: how many by now; limit: pause
  kRestarting,
  kGaveUp,          // reason
  kResultReceived,  // about; step
  kLauncherEnd,     // count: exit code

  // Actions of a simulated machine, which no process on it could report.
  kProcessEnded,  // as kExited
  kPowerCut,      // path: host; detail: its disk; count: 1: of that host only
  kFrameLate,     // detail: the fault that makes it late; limit: by how much

  // Durations, for people: the judge concludes nothing from them.
  // A try of a save has ended on this worker: step, phase; count: bytes that it
  // wrote; parts: of the time for which training waited; beside: of what was
  // done meanwhile; reason: as of kSaveFailed, or none.
  kSaveTimes,
  // Training begins: generation, step; parts: since this process began, or
  // since it left a generation.
  kStartTimes,
};

// Why something happens. Which ones an event may have is said beside its kind.
enum class Reason : uint8_t {
  kNone,
  // A wait for another rank: the other end closed the connection; no heartbeat
  // came; it did not do what was waited for.
  kClosed,
  kSilent,
  kDeadline,
  kRefused,  // by the chief, which does not take it in any more
  // Why a worker leaves (kLifeEnd, kLeft): what it could not go on from.
  kLostWorker,
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
  // How a process ended, as its launcher sees it.
  kExited,
  kSignal,
  kUnreachable,
  // Why a launcher ends an attempt, or kills a worker.
  kWorkerDone,  // a worker has ended in good order
  kWorkerLeft,  // a worker has left with an error
  kWorkerDied,
  kResult,         // the result has come
  kChiefSilent,    // the chief sent nothing for the time it announced
  kNotStarted,     // a worker could not be started
  kTooManyLosses,  // the restart budget, or the membership
  kInterrupted,    // a second interrupt
  kGraceOver,      // time of a worker that had to end is over
  kAttemptOver,    // the attempt has ended with this worker still there
  kNoSign,         // after a loss, of a worker that was to meet the others
  // Reasons for giving up.
  kRestartsUsedUp,
  kNoProgress,
  kTooFewWorkers,
  // Reason why a checkpoint is kept beside the newest ones.
  kKeptForGood,
};

// Returns why a worker that ends, or leaves a generation, with that error could
// not continue. kNone for kOk.
Reason ReasonOf(Code code);
// Returns why a wait for another rank failed.
Reason ReasonOfWait(const Status& status);

// "closed", "restarts_used_up" …: the names in event files.
std::string_view ReasonName(Reason reason);
std::optional<Reason> FindReason(std::string_view name);

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
  std::optional<int> about;       // a rank, or a worker
  int incarnation = 0;            // of that worker
  Reason reason = Reason::kNone;
  int64_t limit_ns = 0;
  std::vector<PartTime> parts;
  std::vector<PartTime> beside;
};

class EventLog {
 public:
  virtual ~EventLog() = default;
  // Stamps the time and keeps the event. Safe from any task.
  virtual void Emit(LogEvent event) = 0;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_WORLD_EVENT_LOG_H_
