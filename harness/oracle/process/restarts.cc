#include "harness/oracle/process/restarts.h"

#include <utility>

#include <fmt/format.h>

namespace gauntlet {
Restarts::Restarts(const Record& record, Checks& checks)
    : record_(record), checks_(checks) {}

void Restarts::On(const HistoryEvent& emitted) {
  if (emitted.by.kind != Emitter::Kind::kLauncher) return;
  const RecordEvent& event = *emitted.event;
  const bool names_worker = event.kind == RecordKind::kStarted ||
                            event.kind == RecordKind::kExited ||
                            event.kind == RecordKind::kAskedToStop;
  if (names_worker && !event.about) return;
  // A launcher that died cannot pass its notice on.
  if (event.kind == RecordKind::kLauncherBegin) to_ask_.clear();
  CheckPassedOn(event);
  switch (event.kind) {
    case RecordKind::kLauncherBegin:
      count_ = 0;
      last_restart_ = nullptr;
      stop_requested_ = false;
      running_.clear();
      break;
    case RecordKind::kAttemptEnds:
      attempt_has_ended_ = true;
      break;
    case RecordKind::kNotice:
      stop_requested_ = true;
      attempt_has_ended_ = false;
      to_ask_ = running_;
      break;
    case RecordKind::kRestarting:
      CheckRestart(event);
      break;
    case RecordKind::kStarted:
      CheckStart(event);
      running_.insert(*event.about);
      break;
    case RecordKind::kExited:
      running_.erase(*event.about);
      break;
    case RecordKind::kGaveUp:
      CheckGivesUp(event);
      break;
    default:
      break;
  }
}

void Restarts::CheckRestart(const RecordEvent& event) {
  const RunSetup& setup = record_.setup;
  ++count_;
  last_restart_ = &event;
  checks_.restarts.Count();
  if (event.count != count_ || count_ > setup.max_restarts) {
    checks_.restarts.Fail(
        "budget",
        fmt::format("restart {} is counted as {}, expected at most {}", count_,
                    event.count, setup.max_restarts));
  }
  if (event.limit_ns < setup.first_restart_pause_ns) {
    checks_.restarts.Fail(
        "pause", fmt::format("restart {} has a pause of {:.3f} s, expected at "
                             "least {:.3f} s",
                             count_, Seconds(event.limit_ns),
                             Seconds(setup.first_restart_pause_ns)));
  }
}

void Restarts::CheckStart(const RecordEvent& event) {
  // A lost worker may have to rejoin after a notice, so that all workers can
  // agree on a save.
  const bool rejoins = record_.setup.rejoins && !attempt_has_ended_;
  if (stop_requested_ && !rejoins) {
    checks_.restarts.Fail(
        "told-to-stop", fmt::format("worker {} was started after a termination "
                                    "notice",
                                    *event.about));
  }
  const RecordEvent* const restart = std::exchange(last_restart_, nullptr);
  // If workers rejoin, the pause runs from the loss of the worker and not from
  // the restart event, so it is not checked here.
  if (restart == nullptr || record_.setup.rejoins) return;
  const int64_t pause_ns = event.t_ns - restart->t_ns;
  if (pause_ns + kStampSlackNs >= restart->limit_ns) return;
  checks_.restarts.Fail(
      "pause",
      fmt::format("restart {} came after {:.3f} s, expected {:.3f} s", count_,
                  Seconds(pause_ns), Seconds(restart->limit_ns)));
}

void Restarts::CheckGivesUp(const RecordEvent& event) {
  checks_.restarts.Count();
  if (event.reason != RecordReason::kRestartsUsedUp ||
      count_ == record_.setup.max_restarts) {
    return;
  }
  checks_.restarts.Fail(
      "gave-up-early",
      fmt::format("the launcher gave up after {} restarts, expected {}", count_,
                  record_.setup.max_restarts));
}

// Checks that a launcher passes its notice on before it does anything else.
void Restarts::CheckPassedOn(const RecordEvent& event) {
  if (event.kind == RecordKind::kAskedToStop) {
    to_ask_.erase(*event.about);
    return;
  }
  for (const int worker : std::exchange(to_ask_, {})) {
    checks_.restarts.Fail(
        "not-passed-on",
        fmt::format("the launcher did not pass its termination notice on to "
                    "worker {}",
                    worker));
  }
}

}  // namespace gauntlet
