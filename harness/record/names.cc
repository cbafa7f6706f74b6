// The names of every enum of this library, in the order of the enum.
#include <array>
#include <cstddef>

#include "harness/record/event.h"
#include "harness/record/record.h"
#include "harness/record/verdict.h"

namespace gauntlet {
namespace {

constexpr std::array<std::string_view, 50> kKinds = {
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
static_assert(kKinds.size() ==
              static_cast<size_t>(RecordKind::kStartTimes) + 1);

constexpr std::array<std::string_view, 3> kPhases = {
    "in_epoch", "evaluation_due", "callbacks_due"};
constexpr std::array<std::string_view, 8> kOutcomes = {
    "completes", "recovers", "stops-cleanly", "refuses",
    "violates",  "fails",    "stops-on-nan",  "retry-later"};
static_assert(kOutcomes.size() ==
              static_cast<size_t>(Outcome::kRetryLater) + 1);
constexpr std::array<std::string_view, 3> kEndings = {"exited", "hung",
                                                      "timed-out"};
constexpr std::array<std::string_view, 5> kVerdicts = {
    "PASS", "FAIL", "INCONCLUSIVE", "SKIP", "NOT RUN"};
static_assert(kVerdicts.size() ==
              static_cast<size_t>(VerdictKind::kNotRun) + 1);

constexpr std::array<std::string_view, 35> kReasons = {
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
static_assert(kReasons.size() ==
              static_cast<size_t>(RecordReason::kKeptForGood) + 1);

template <typename Enum, size_t n>
std::optional<Enum> Find(const std::array<std::string_view, n>& names,
                         std::string_view name) {
  for (size_t i = 0; i < n; ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace

std::string_view RecordKindName(RecordKind kind) {
  return kKinds[static_cast<size_t>(kind)];
}
std::optional<RecordKind> FindRecordKind(std::string_view name) {
  return Find<RecordKind>(kKinds, name);
}

std::string_view RecordPhaseName(RecordPhase phase) {
  return kPhases[static_cast<size_t>(phase)];
}
std::optional<RecordPhase> FindRecordPhase(std::string_view name) {
  return Find<RecordPhase>(kPhases, name);
}

std::string_view RecordReasonName(RecordReason reason) {
  return kReasons[static_cast<size_t>(reason)];
}
std::optional<RecordReason> FindRecordReason(std::string_view name) {
  return Find<RecordReason>(kReasons, name);
}

std::string_view OutcomeName(Outcome outcome) {
  return kOutcomes[static_cast<size_t>(outcome)];
}
std::optional<Outcome> FindOutcome(std::string_view name) {
  return Find<Outcome>(kOutcomes, name);
}

std::string_view RunEndingName(RunEnding ending) {
  return kEndings[static_cast<size_t>(ending)];
}
std::optional<RunEnding> FindRunEnding(std::string_view name) {
  return Find<RunEnding>(kEndings, name);
}

std::string_view VerdictKindName(VerdictKind kind) {
  return kVerdicts[static_cast<size_t>(kind)];
}
std::optional<VerdictKind> FindVerdictKind(std::string_view name) {
  return Find<VerdictKind>(kVerdicts, name);
}

}  // namespace gauntlet
