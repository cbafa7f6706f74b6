// Events of a record: what each process reported while it ran.
//
// Kinds and fields are those of the engine's event log, but this library does
// not depend on the engine: another trainer can write such events too.
#ifndef GAUNTLET_HARNESS_RECORD_EVENT_H_
#define GAUNTLET_HARNESS_RECORD_EVENT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gauntlet {

// Kind of an event. The comment next to a kind lists the fields that it sets;
// all other fields, except for the time, are zero or empty.
enum class RecordKind : uint8_t {
  kLifeBegin,         // a worker process starts; count: rank
  kGeneration,        // a claim: generation; path: parent checkpoint, or "";
                      // count: as for kSaveAcknowledged
  kResumed,           // step, epoch, position, digest; path: checkpoint;
                      // count: as for kSaveAcknowledged
  kInitialized,       // a cold start: digest of the initial state
  kStep,              // step, epoch, position before the step, phase, digest,
                      // loss, samples; parts: since the previous step, or
                      // kStartTimes
  kEvaluated,         // step, epoch, phase, digest, loss, count (correct)
  kEpochEnd,          // step, epoch, digest, loss, count (correct)
  kSaveBegin,         // step; path
  kSaveAcknowledged,  // step, phase, digest; path; count: first non-finite step
                      // of the run, 0: none; reason: kKeptForGood or none
  kSaveFailed,        // step; path: "" if no directory was made; reason; detail
  kRetired,           // path
  kRejected,          // path; detail: why
  kFencedFound,       // path: a checkpoint that the lineage fences, not read
  kFencedOut,         // the worker found a claim of a newer generation
  kNotice,            // a preemption notice was received
  kStopAgreed,        // step: all workers stop here
  // A wait for another rank failed, or the launcher's wait for a worker. about:
  // the rank or worker; nullopt: one of the process's own tasks. reason:
  // kClosed, kSilent, kDeadline, kRefused; limit: the longest wait.
  kWorkerLost,
  kFaultFired,     // detail: the fault's id; path: the fault point
  kLoaded,         // step, digest; path: checkpoint, read and verified
  kBackupDeleted,  // path
  kFinished,       // step, epoch, digest; count: as for kSaveAcknowledged
  // count: exit code; reason; step: of a state that could not be saved, or 0
  kLifeEnd,
  kLeft,       // the worker leaves the generation to rejoin; step; reason;
               // detail
  kCarriedOn,  // generation, step, epoch, position, phase, digest: resumes
               // from memory; detail: "kept", or the worker that held the state
  kDamaged,    // path: a file that a fault damages silently; detail: the
               // fault's id
  kSaveCopied,          // step, phase; count: bytes; detail: time that the save
                        // waited for the previous one
  kResultAcknowledged,  // the launcher has received this worker's result
  kNotFinite,           // step, epoch, loss; detail: the non-finite value
  // Operations of a worker, emitted before each begins.
  kClaimBegin,   // count: generation that the worker tries to claim
  kRetireBegin,  // path
  kRejectBegin,  // path
  kDeleteBegin,  // path
  kLoadFailed,   // path: checkpoint that was verified when chosen; reason
  kLeaving,      // generation: the worker is about to close its connections
  kFaultAgain,   // as kFaultFired, if it has fired in this process before
  // Events of a launcher. about: a worker; incarnation: the worker's newest.
  kLauncherBegin,
  kStarted,  // about, incarnation; count: rank
  // about, incarnation: worker to which the preemption notice is sent on;
  // reason: kUnreachable if the worker may receive it late or never
  kAskedToStop,
  kKillSent,        // about, incarnation; reason
  kExited,          // about, incarnation; count: exit code, or 128 + signal;
                    // reason: kExited, kSignal, kUnreachable
  kAttemptEnds,     // reason; about: worker whose exit ends the attempt
  kRestarting,      // about: worker to blame, if any; count: restarts so far;
                    // limit: the pause
  kGaveUp,          // reason
  kResultReceived,  // about; step
  kLauncherEnd,     // count: exit code
  // Events of a simulated machine.
  kProcessEnded,  // as kExited
  kPowerCut,      // path: the host; detail: the disk's profile; about,
                  // incarnation: worker, if only its host loses power
  kFrameLate,     // a frame of a worker is late; detail: the fault, if any;
                  // limit: the delay
  // Durations, for people: no verdict depends on them.
  kSaveTimes,   // one try of a save has ended on this worker: step, phase;
                // count: bytes that it wrote; parts: of the time that training
                // waited; beside: of background tasks; reason: if it failed
  kStartTimes,  // training begins: generation, step; parts: since the process
                // started, or left the previous generation
};

// Cause of an event.
enum class RecordReason : uint8_t {
  kNone,
  // A wait failed.
  kClosed,    // the other end closed the connection
  kSilent,    // no heartbeat arrived
  kDeadline,  // the peer did not act before the deadline
  kRefused,   // the chief no longer accepts the worker
  // A worker exits, leaves its generation, or fails an operation.
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
  // A process ended.
  kExited,
  kSignal,
  kUnreachable,  // the launcher can no longer reach the process
  // A launcher ends an attempt or kills a worker.
  kWorkerDone,     // a worker exited in good order
  kWorkerLeft,     // a worker exited with an error
  kWorkerDied,     // a worker ended without an exit event
  kResult,         // the result arrived
  kChiefSilent,    // the chief hangs: no report within its limit
  kNotStarted,     // a worker could not be started
  kTooManyLosses,  // no restart is left, or the membership must change
  kInterrupted,    // a second interrupt
  kGraceOver,      // the worker did not end within its grace period
  kAttemptOver,    // the worker outlived its attempt
  kNoSign,         // after a loss the worker did not report a rejoin
  // A launcher gives up.
  kRestartsUsedUp,
  kNoProgress,
  kTooFewWorkers,
  // Retention keeps a checkpoint in addition to the newest ones.
  kKeptForGood,
};
std::string_view RecordReasonName(RecordReason reason);
std::optional<RecordReason> FindRecordReason(std::string_view name);

std::string_view RecordKindName(RecordKind kind);
std::optional<RecordKind> FindRecordKind(std::string_view name);

// Part of an epoch that follows a state.
enum class RecordPhase : uint8_t { kInEpoch, kEvaluationDue, kCallbacksDue };
std::string_view RecordPhaseName(RecordPhase phase);
std::optional<RecordPhase> FindRecordPhase(std::string_view name);

// Time spent on one part of an operation: "write", "exchange" …
struct RecordTime {
  std::string part;
  int64_t took_ns = 0;

  bool operator==(const RecordTime&) const = default;
};

struct RecordEvent {
  RecordKind kind = RecordKind::kLifeBegin;
  int64_t t_ns = 0;  // monotonic time, comparable between processes of a run
  uint64_t generation = 0;
  uint64_t step = 0;
  uint64_t epoch = 0;
  uint64_t position = 0;  // in samples of the epoch's order
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
  std::vector<RecordTime> beside;  // of background tasks
  // Position among all events of the run; 0: events are ordered by time.
  uint64_t order = 0;

  bool operator==(const RecordEvent&) const = default;
};

// Worker number in the event file of a launcher.
inline constexpr int kLauncherWorker = -1;

// Events of one process, in the order in which it emitted them.
struct LifeEvents {
  int worker = 0;
  int life = 1;  // incarnation; 1: the worker's first process
  std::vector<RecordEvent> events;

  bool operator==(const LifeEvents&) const = default;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RECORD_EVENT_H_
