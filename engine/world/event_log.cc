#include "engine/world/event_log.h"

#include <array>
#include <utility>

namespace gauntlet {
namespace {

constexpr std::array<std::string_view, 50> kKindNames = {
    "worker_started",
    "claimed",
    "resumed",
    "initialized",
    "step",
    "evaluated",
    "epoch_end",
    "save_begin",
    "save_acknowledged",
    "save_failed",
    "retired",
    "rejected",
    "fenced_checkpoint",
    "superseded",
    "notice_received",
    "stop_agreed",
    "worker_lost",
    "fault_fired",
    "loaded",
    "checkpoints_deleted",
    "finished",
    "worker_exited",
    "left_generation",
    "resumed_from_memory",
    "damaged",
    "save_copied",
    "result_acknowledged",
    "not_finite",
    "claim_begin",
    "retire_begin",
    "reject_begin",
    "delete_begin",
    "load_failed",
    "leaving",
    "fault_fired_again",
    "launcher_started",
    "process_started",
    "stop_passed_on",
    "kill_sent",
    "process_exited",
    "attempt_ends",
    "restarting",
    "gave_up",
    "result_received",
    "launcher_exited",
    "process_ended",
    "power_cut",
    "frame_late",
    "save_times",
    "start_times",
};
static_assert(kKindNames.size() ==
              static_cast<size_t>(EventKind::kStartTimes) + 1);

constexpr std::array<std::string_view, 3> kPhaseNames = {
    "in_epoch", "evaluation_due", "callbacks_due"};

constexpr std::array<std::string_view, 35> kReasonNames = {
    "",
    "closed",
    "silent",
    "deadline",
    "refused",
    "lost_worker",
    "device",
    "superseded",
    "bad_input",
    "disk_error",
    "disk_full",
    "forbidden",
    "missing_file",
    "bad_data",
    "precondition",
    "other_job",
    "cancelled",
    "exited",
    "signal",
    "unreachable",
    "worker_done",
    "worker_left",
    "worker_died",
    "result",
    "chief_silent",
    "not_started",
    "too_many_losses",
    "interrupted",
    "grace_over",
    "attempt_over",
    "no_sign",
    "restarts_used_up",
    "no_progress",
    "too_few_workers",
    "kept_for_good",
};
static_assert(kReasonNames.size() ==
              static_cast<size_t>(Reason::kKeptForGood) + 1);

template <typename Enum, size_t n>
std::optional<Enum> Find(const std::array<std::string_view, n>& names,
                         std::string_view name) {
  for (size_t i = 0; i < n; ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace

std::string_view EventKindName(EventKind kind) {
  return kKindNames[static_cast<size_t>(kind)];
}

std::optional<EventKind> FindEventKind(std::string_view name) {
  return Find<EventKind>(kKindNames, name);
}

Reason ReasonOf(Code code) {
  switch (code) {
    case Code::kOk:
      return Reason::kNone;
    case Code::kUnavailable:
      return Reason::kLostWorker;
    case Code::kDeadlineExceeded:
      return Reason::kDeadline;
    case Code::kFenced:
      return Reason::kSuperseded;
    case Code::kInvalidArgument:
      return Reason::kBadInput;
    case Code::kIoError:
      return Reason::kDiskError;
    case Code::kResourceExhausted:
      return Reason::kDiskFull;
    case Code::kForbidden:
      return Reason::kForbidden;
    case Code::kNotFound:
    case Code::kAlreadyExists:
      return Reason::kMissingFile;
    case Code::kDataLoss:
      return Reason::kBadData;
    case Code::kFailedPrecondition:
      return Reason::kPrecondition;
    case Code::kOtherJob:
      return Reason::kOtherJob;
    case Code::kCancelled:
      return Reason::kCancelled;
  }
  return Reason::kNone;
}

Reason ReasonOfWait(const Status& status) {
  return status.code() == Code::kDeadlineExceeded ? Reason::kDeadline
                                                  : Reason::kClosed;
}

std::string_view ReasonName(Reason reason) {
  return kReasonNames[static_cast<size_t>(reason)];
}

std::optional<Reason> FindReason(std::string_view name) {
  return Find<Reason>(kReasonNames, name);
}

std::string_view PhaseName(Phase phase) {
  return kPhaseNames[static_cast<size_t>(phase)];
}

std::optional<Phase> FindPhase(std::string_view name) {
  return Find<Phase>(kPhaseNames, name);
}

}  // namespace gauntlet
