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
  kEpochEnd,     // epoch, loss, count (correct): metrics of a whole epoch
  kSaveBegin,    // step; path
  // step, digest; path; count: CheckpointHead::not_finite_since, 0 for none;
  // reason: kKeptForGood if retention never removes it, else kNone
  kSaveAcknowledged,
  kSaveFailed,   // step; detail
  kRetired,      // path
  kRejected,     // path; detail: why
  kFencedFound,  // path: fenced by the lineage, not read
  kFencedOut,    // this process detected that its generation is old
  kNotice,       // a preemption notice was received
  kStopAgreed,   // step: all workers stop here
  // A wait for another rank failed, or the launcher's wait for a worker. about:
  // that rank or worker, nullopt for a task of this process; reason: kClosed,
  // kSilent, kDeadline, kRefused; limit: the longest wait; detail: for people.
  kWorkerLost,
  kFaultFired,     // detail: the fault's id; path: the point
  kLoaded,         // step, digest; path: what was read and passed verification
  kBackupDeleted,  // path
  kFinished,       // step, epoch, digest; count: as kSaveAcknowledged
  // count: exit code; reason; step: of a state that could not be saved, or 0
  kLifeEnd,
  kLeft,  // generation that this process left to rejoin; step; detail: why
  // This worker entered a new generation with a state from memory: generation,
  // step, epoch, position, phase, digest; detail: "kept", or the sender of the
  // state.
  kCarriedOn,
  kDamaged,  // path: a file that a fault damages; detail: the fault's id
  // An asynchronous save has copied the state for a task to write: step, phase;
  // count: bytes; detail: how long it waited for the previous save, if it did.
  kSaveCopied,
  // The launcher has the result: the run's checkpoints are no longer needed.
  kResultAcknowledged,
  // The first step of this generation after which the loss, or else the state,
  // is not finite: generation, step, epoch, loss; detail: loss or tensor.
  kNotFinite,

  // The next action of a worker, emitted before it begins.
  kClaimBegin,   // count: the generation to claim
  kRetireBegin,  // path
  kRejectBegin,  // path
  kDeleteBegin,  // path: all checkpoints of a finished run
  kLoadFailed,   // path: verified when it was chosen; reason
  kLeaving,      // generation: its connections will be closed next
  kFaultAgain,   // as kFaultFired, if it has fired in this process before

  // Events of a launcher. about: a worker; incarnation: its newest.
  kLauncherBegin,
  kStarted,  // about, incarnation; count: rank
  // about, incarnation: a notice was passed on; reason: kUnreachable if the
  // worker may get it late or never
  kAskedToStop,
  // about, incarnation; reason: for SIGKILL; emitted before it is sent
  kKillSent,
  // about, incarnation, count: exit code, or 128 + signal; reason: kSignal,
  // kExited, kUnreachable (nothing more is known of the worker)
  kExited,
  // This attempt starts no more workers. reason; about: whose exit ends it
  kAttemptEnds,
  // about: the worker that failed, if any; count: restarts so far; limit: pause
  kRestarting,
  kGaveUp,          // reason
  kResultReceived,  // about; step
  kLauncherEnd,     // count: exit code

  // Events of a simulated machine. In a real run workers emit kFrameLate.
  kProcessEnded,  // as kExited
  kPowerCut,      // path: host; detail: its disk; count: 1: only that host
  kFrameLate,     // detail: the fault that makes it late; limit: by how much

  // Durations, for people: no verdict depends on them.
  // A save has ended on this worker, committed or not: step, phase; count:
  // bytes written; parts: of the time for which training waited; beside: of
  // work done in parallel; reason: as of kSaveFailed, or none.
  kSaveTimes,
  // Training begins: generation, step; parts: since this process began, or
  // since it left a generation.
  kStartTimes,
};

// Reason of an event. EventKind lists the reasons that each kind may have.
enum class Reason : uint8_t {
  kNone,
  // A wait for another rank failed: the peer closed the connection; no
  // heartbeat arrived; the peer did not act within the deadline.
  kClosed,
  kSilent,
  kDeadline,
  kRefused,  // by the chief, which no longer admits the rank
  // Why a worker leaves (kLifeEnd, kLeft): the error that it cannot survive.
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
  // End of a process, as its launcher observes it.
  kExited,
  kSignal,
  kUnreachable,
  // Reasons for a launcher to end an attempt, or to kill a worker.
  kWorkerDone,  // a worker has ended in good order
  kWorkerLeft,  // a worker has left with an error
  kWorkerDied,
  kResult,         // the result has arrived
  kChiefSilent,    // the chief sent nothing for the time it announced
  kNotStarted,     // a worker could not be started
  kTooManyLosses,  // no restart is left, or the membership must change
  kInterrupted,    // a second interrupt
  kGraceOver,      // a worker did not end within its grace period
  kAttemptOver,    // the worker still runs at the attempt's end
  kNoSign,         // no sign that the worker rejoins after a loss
  // Reasons for giving up.
  kRestartsUsedUp,
  kNoProgress,
  kTooFewWorkers,
  // Reason for keeping a checkpoint in addition to the newest ones.
  kKeptForGood,
};

// Returns the reason to record for a worker that ends, or leaves a generation,
// because of an error with this code; kNone for kOk.
Reason ReasonOf(Code code);
// Returns the reason to record for a failed wait for another rank.
Reason ReasonOfWait(const Status& status);

// Returns "closed", "restarts_used_up" …: the names in event files.
std::string_view ReasonName(Reason reason);
std::optional<Reason> FindReason(std::string_view name);

// Returns "step", "save_acknowledged" …: the names in event files.
std::string_view EventKindName(EventKind kind);
std::optional<EventKind> FindEventKind(std::string_view name);

// Position of a state relative to the boundaries of its epoch.
enum class Phase : uint8_t { kInEpoch, kEvaluationDue, kCallbacksDue };
std::string_view PhaseName(Phase phase);
std::optional<Phase> FindPhase(std::string_view name);

// One event. EventKind lists the fields of each kind; all others stay zero.
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
  // Adds the present time and keeps the event. Safe from any task.
  virtual void Emit(LogEvent event) = 0;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_WORLD_EVENT_LOG_H_
