// The vocabulary of events: the kinds and the fields that each kind sets, the
// reasons, the phases, and the names of all of these in event files. Writers of
// events and readers of records share it.
//
// This header needs no library of the engine. So the library of records can
// include it without linking any.
#ifndef GAUNTLET_ENGINE_WORLD_EVENT_VOCABULARY_H_
#define GAUNTLET_ENGINE_WORLD_EVENT_VOCABULARY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/enum_order.h"

namespace gauntlet {

// Kind of an event. The comment next to a kind lists the fields that it sets
// besides the time, and besides the generation that the worker was in. All
// other fields are zero or empty.
enum class EventKind : uint8_t {
  kWorkerStarted,     // a worker process starts; count: rank
  kGeneration,        // a claim: generation; path: parent checkpoint, or "";
                      // digest: the parent's; count: as for kSaveAcknowledged;
                      // reason: kBadData if checkpoints exist and none is valid
  kResumed,           // step, epoch, position, phase, digest; path: checkpoint;
                      // count: as for kSaveAcknowledged
  kInitialized,       // a cold start: digest of the initial state
  kStep,              // step, epoch, position before the step, phase, digest,
                      // loss, samples; parts: durations since the previous
                      // kStep or kStartTimes
  kEvaluated,         // step, epoch, phase, digest, loss, count (correct)
  kEpochEnd,          // step, epoch, digest, loss, count (correct)
  kSaveBegin,         // step, phase; path
  kSaveAcknowledged,  // step, phase, digest; path; count: first non-finite step
                      // of the run, 0: none; reason: kKeptPermanently or none
  kSaveFailed,        // step; path: "" if no directory was made; reason; detail
  kRetired,           // path
  kRejected,          // path; detail: why
  kFencedFound,       // path: a fenced checkpoint; it is not read
  kFencedOut,         // the worker found a claim of a newer generation
  kNotice,            // a preemption notice was received; step, if by a worker
  kStopAgreed,        // step, epoch: boundary at which all workers stop
  // A rank's wait for another rank failed, or the launcher's wait for a worker
  // failed. about: the rank or worker; nullopt: the wait was for one of the
  // process's own tasks, or for a device exchange. reason: kClosed, kSilent,
  // kDeadline, kRefused; limit: the longest wait; detail: for people.
  kWorkerLost,
  kFaultFired,     // detail: the fault's id; path: the fault point; step, epoch
  kLoaded,         // step, digest; path: checkpoint, read and verified
  kBackupDeleted,  // path
  kFinished,       // step, epoch, phase, digest; count: as for
                   // kSaveAcknowledged
  // count: exit code; reason; detail: for people; step: of a state that could
  // not be saved, or 0
  kWorkerExited,
  kLeft,  // the worker leaves the generation to rejoin; step; reason;
          // detail
  kResumedFromMemory,  // generation, step, epoch, position, phase, digest:
                       // resumes from memory; detail: "kept", or the worker
                       // that held the state
  kDamaged,     // path: a file that a fault damages silently; detail: the
                // fault's id; step, epoch
  kSaveCopied,  // step, phase; count: bytes; detail: time that the save
                // waited for the previous one
  kResultAcknowledged,  // the launcher has received the result; step, epoch
  kNotFinite,           // step, epoch, phase, loss; detail: non-finite loss or
                        // tensor
  // Operations of a worker, emitted before each begins.
  kClaimBegin,   // count: generation that the worker tries to claim
  kRetireBegin,  // path
  kRejectBegin,  // path
  kDeleteBegin,  // path: all checkpoints of a finished run
  kLoadFailed,   // path: checkpoint that was verified when chosen; reason
  kLeaving,      // generation: the worker is about to close its connections
  kFaultAgain,   // as kFaultFired, for a fault that has fired in this process
                 // before
  // Events of a launcher. about: a worker; incarnation: the worker's newest.
  kLauncherBegin,
  kStarted,  // about, incarnation; count: rank
  // about, incarnation: worker to which the launcher forwards the preemption
  // notice; reason: kUnreachable if the worker may receive it late or never
  kAskedToStop,
  kKillSent,     // about, incarnation; reason; emitted before SIGKILL is sent
  kExited,       // about, incarnation; count: exit code, or 128 + signal;
                 // reason: kExited, kSignal, kUnreachable, kNotStarted
  kAttemptEnds,  // reason; about: worker whose exit ends the attempt
  kRestarting,   // about: worker to blame, if any; count: restarts so far;
                 // limit: the pause
  kGaveUp,       // reason
  kResultReceived,  // about; step
  kLauncherEnd,     // count: exit code
  // Events of a simulated machine. In a real run workers emit kFrameLate.
  kProcessEnded,  // as kExited
  // path: the host; detail: the disk's profile; count: 1 if only that host
  // loses power. If so, about, incarnation: the host's worker
  kPowerCut,
  kFrameLate,  // a frame of a worker is late; detail: the fault, if any;
               // limit: the delay
  // Durations, for people: no verdict depends on them.
  kSaveTimes,   // a save, and its background tasks, have ended on this worker:
                // step, phase; count: bytes that it wrote; parts: the time that
                // training waited; background: the time of the tasks; reason:
                // if the save failed
  kStartTimes,  // training begins: generation, step; parts: the time since the
                // process started or, after a rejoin, since it left the
                // previous generation
};

// Cause of an event. EventKind lists the reasons that each kind may have.
enum class Reason : uint8_t {
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
  kWorkerDied,     // a worker was killed, or exited with an unknown code
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
  kKeptPermanently,
};

// Position of a state relative to the boundaries of its epoch.
enum class Phase : uint8_t { kInEpoch, kEvaluationDue, kCallbacksDue };

// A value and its name in event files.
template <typename Enum>
struct EventWord {
  Enum value;
  std::string_view name;
};

template <typename Enum, size_t n>
constexpr std::optional<Enum> FindWord(
    const std::array<EventWord<Enum>, n>& words, std::string_view name) {
  for (const EventWord<Enum>& word : words) {
    if (word.name == name) return word.value;
  }
  return std::nullopt;
}

inline constexpr std::array<EventWord<EventKind>, 50> kEventKinds = {{
    {EventKind::kWorkerStarted, "worker_started"},
    {EventKind::kGeneration, "claimed"},
    {EventKind::kResumed, "resumed"},
    {EventKind::kInitialized, "initialized"},
    {EventKind::kStep, "step"},
    {EventKind::kEvaluated, "evaluated"},
    {EventKind::kEpochEnd, "epoch_end"},
    {EventKind::kSaveBegin, "save_begin"},
    {EventKind::kSaveAcknowledged, "save_acknowledged"},
    {EventKind::kSaveFailed, "save_failed"},
    {EventKind::kRetired, "retired"},
    {EventKind::kRejected, "rejected"},
    {EventKind::kFencedFound, "fenced_checkpoint"},
    {EventKind::kFencedOut, "superseded"},
    {EventKind::kNotice, "notice_received"},
    {EventKind::kStopAgreed, "stop_agreed"},
    {EventKind::kWorkerLost, "worker_lost"},
    {EventKind::kFaultFired, "fault_fired"},
    {EventKind::kLoaded, "loaded"},
    {EventKind::kBackupDeleted, "checkpoints_deleted"},
    {EventKind::kFinished, "finished"},
    {EventKind::kWorkerExited, "worker_exited"},
    {EventKind::kLeft, "left_generation"},
    {EventKind::kResumedFromMemory, "resumed_from_memory"},
    {EventKind::kDamaged, "damaged"},
    {EventKind::kSaveCopied, "save_copied"},
    {EventKind::kResultAcknowledged, "result_acknowledged"},
    {EventKind::kNotFinite, "not_finite"},
    {EventKind::kClaimBegin, "claim_begin"},
    {EventKind::kRetireBegin, "retire_begin"},
    {EventKind::kRejectBegin, "reject_begin"},
    {EventKind::kDeleteBegin, "delete_begin"},
    {EventKind::kLoadFailed, "load_failed"},
    {EventKind::kLeaving, "leaving"},
    {EventKind::kFaultAgain, "fault_fired_again"},
    {EventKind::kLauncherBegin, "launcher_started"},
    {EventKind::kStarted, "process_started"},
    {EventKind::kAskedToStop, "stop_passed_on"},
    {EventKind::kKillSent, "kill_sent"},
    {EventKind::kExited, "process_exited"},
    {EventKind::kAttemptEnds, "attempt_ends"},
    {EventKind::kRestarting, "restarting"},
    {EventKind::kGaveUp, "gave_up"},
    {EventKind::kResultReceived, "result_received"},
    {EventKind::kLauncherEnd, "launcher_exited"},
    {EventKind::kProcessEnded, "process_ended"},
    {EventKind::kPowerCut, "power_cut"},
    {EventKind::kFrameLate, "frame_late"},
    {EventKind::kSaveTimes, "save_times"},
    {EventKind::kStartTimes, "start_times"},
}};
static_assert(IsInEnumOrder(kEventKinds, &EventWord<EventKind>::value));
static_assert(kEventKinds.back().value == EventKind::kStartTimes);

inline constexpr std::array<EventWord<Reason>, 35> kEventReasons = {{
    {Reason::kNone, ""},
    {Reason::kClosed, "closed"},
    {Reason::kSilent, "silent"},
    {Reason::kDeadline, "deadline"},
    {Reason::kRefused, "refused"},
    {Reason::kLostWorker, "lost_worker"},
    {Reason::kDevice, "device"},
    {Reason::kSuperseded, "superseded"},
    {Reason::kBadInput, "bad_input"},
    {Reason::kDiskError, "disk_error"},
    {Reason::kDiskFull, "disk_full"},
    {Reason::kForbidden, "forbidden"},
    {Reason::kMissingFile, "missing_file"},
    {Reason::kBadData, "bad_data"},
    {Reason::kPrecondition, "precondition"},
    {Reason::kOtherJob, "other_job"},
    {Reason::kCancelled, "cancelled"},
    {Reason::kExited, "exited"},
    {Reason::kSignal, "signal"},
    {Reason::kUnreachable, "unreachable"},
    {Reason::kWorkerDone, "worker_done"},
    {Reason::kWorkerLeft, "worker_left"},
    {Reason::kWorkerDied, "worker_died"},
    {Reason::kResult, "result"},
    {Reason::kChiefSilent, "chief_silent"},
    {Reason::kNotStarted, "not_started"},
    {Reason::kTooManyLosses, "too_many_losses"},
    {Reason::kInterrupted, "interrupted"},
    {Reason::kGraceOver, "grace_over"},
    {Reason::kAttemptOver, "attempt_over"},
    {Reason::kNoSign, "no_sign"},
    {Reason::kRestartsUsedUp, "restarts_used_up"},
    {Reason::kNoProgress, "no_progress"},
    {Reason::kTooFewWorkers, "too_few_workers"},
    {Reason::kKeptPermanently, "kept_for_good"},
}};
static_assert(IsInEnumOrder(kEventReasons, &EventWord<Reason>::value));
static_assert(kEventReasons.back().value == Reason::kKeptPermanently);

inline constexpr std::array<EventWord<Phase>, 3> kEventPhases = {{
    {Phase::kInEpoch, "in_epoch"},
    {Phase::kEvaluationDue, "evaluation_due"},
    {Phase::kCallbacksDue, "callbacks_due"},
}};
static_assert(IsInEnumOrder(kEventPhases, &EventWord<Phase>::value));

// Returns "step", "save_acknowledged" …
inline std::string_view EventKindName(EventKind kind) {
  return kEventKinds[static_cast<size_t>(kind)].name;
}
inline std::optional<EventKind> FindEventKind(std::string_view name) {
  return FindWord(kEventKinds, name);
}

// Returns "closed", "restarts_used_up" …
inline std::string_view ReasonName(Reason reason) {
  return kEventReasons[static_cast<size_t>(reason)].name;
}
inline std::optional<Reason> FindReason(std::string_view name) {
  return FindWord(kEventReasons, name);
}

inline std::string_view PhaseName(Phase phase) {
  return kEventPhases[static_cast<size_t>(phase)].name;
}
inline std::optional<Phase> FindPhase(std::string_view name) {
  return FindWord(kEventPhases, name);
}

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_WORLD_EVENT_VOCABULARY_H_
