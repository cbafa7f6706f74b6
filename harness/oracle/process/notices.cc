#include "harness/oracle/process/notices.h"

#include <algorithm>
#include <utility>

#include "engine/text/units.h"
#include "engine/worker_exit_code.h"
#include "harness/oracle/history/last_words.h"
#include "harness/record/fault_occurrence.h"
#include "harness/record/fault_traits.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// Number of executions that may follow a notice (an execution has
// steps_per_execution steps): the one in progress, and the one in which the
// workers agree to stop.
constexpr uint64_t kStepsAfterNotice = 2;

}  // namespace

Notices::Notices(const Record& record, Checks& checks)
    : record_(record), checks_(checks) {}

void Notices::On(const HistoryEvent& emitted) {
  const RecordEvent& event = *emitted.event;
  switch (emitted.by.kind) {
    case Emitter::Kind::kMachine:
      if (event.kind == RecordKind::kProcessEnded) NoteEnd(event);
      return;
    case Emitter::Kind::kLauncher:
      return OnLauncher(event);
    case Emitter::Kind::kWorker:
      return OnWorker(emitted);
  }
}

void Notices::OnWorker(const HistoryEvent& emitted) {
  const RecordEvent& event = *emitted.event;
  Worker& worker = workers_[emitted.by];
  switch (event.kind) {
    case RecordKind::kInitialized:
    case RecordKind::kResumed:
    case RecordKind::kResumedFromMemory:
      worker.generation = event.generation;
      worker.step = event.step;
      worker.has_model = true;
      worker.stops = worker.is_gone = false;
      worker.steps_over = 0;
      for (auto* at : {&worker.noticed_at, &worker.delivered_at}) {
        if (*at) *at = std::max(**at, event.step);
      }
      break;
    case RecordKind::kStep:
      worker.step = event.step;
      CheckSees(emitted.by, worker);
      CheckHeeds(worker, event);
      CheckInGrace(emitted.by, worker, event);
      break;
    case RecordKind::kNotice:
      worker.delivered_at.reset();
      if (!worker.noticed_at) worker.noticed_at = worker.step;
      BeginGrace(worker, event.t_ns);
      break;
    case RecordKind::kStopAgreed:
      CheckCause(emitted.by, worker);
      worker.stops = true;
      stops_.try_emplace(event.generation, Stop{.step = event.step});
      break;
    case RecordKind::kSaveAcknowledged:
      if (const auto stop = stops_.find(event.generation);
          stop != stops_.end() && stop->second.step == event.step) {
        stop->second.saved = true;
      }
      break;
    case RecordKind::kGeneration:
      has_store_ = true;
      ForgetGeneration(event.generation);
      break;
    case RecordKind::kFinished:
      worker.finished = true;
      break;
    case RecordKind::kWorkerLost:
    case RecordKind::kFencedOut:
    case RecordKind::kLeaving:
    case RecordKind::kLeft:
      worker.is_gone = true;
      break;
    case RecordKind::kFaultFired:
      Fire(worker, event);
      break;
    case RecordKind::kWorkerExited:
      CheckEnd(emitted.by, worker, event);
      break;
    default:
      break;
  }
}

void Notices::Fire(Worker& worker, const RecordEvent& event) {
  const RecordFault* const fault = FindFault(record_, event.detail);
  if (fault == nullptr) return;
  if (!GivesNotice(*fault)) return NoteKill(worker, *fault, event.t_ns);
  checks_.grace.Count();
  if (!fault->polled && !worker.noticed_at) {
    worker.delivered_at = worker.step;
    BeginGrace(worker, event.t_ns);
  }
  worker.notice = fault;
  worker.notice_ns = event.t_ns;
}

// Notes the fault of `worker`, at `t_ns`, if it kills the worker or, with the
// machine or the launcher, all workers that run.
void Notices::NoteKill(Worker& worker, const RecordFault& fault, int64_t t_ns) {
  const FaultTraits traits = TraitsOf(fault);
  worker.is_hindered = worker.is_hindered || traits.may_end_incarnation;
  const auto kill = [](Worker& one, int64_t from_ns) {
    one.killed_from_ns =
        std::min(one.killed_from_ns.value_or(from_ns), from_ns);
  };
  if (traits.ends_incarnation) {
    kill(worker, t_ns + KillsAfter(fault).value_or(0));
  }
  if (!traits.cuts_power && !traits.kills_launcher) return;
  for (auto& [id, other] : workers_) kill(other, t_ns);
}

// Forgets the generation with this number, because a new generation may use the
// number again: in a job without a checkpoint directory, or after all
// checkpoints were deleted.
void Notices::ForgetGeneration(uint64_t number) {
  stops_.erase(number);
  for (auto& [id, worker] : workers_) {
    if (worker.generation != number) continue;
    worker.generation = 0;
    worker.is_gone = true;
  }
}

void Notices::NoteEnd(const RecordEvent& event) {
  if (!event.about || event.reason == RecordReason::kUnreachable) return;
  const auto ended = workers_.find(WorkerAbout(event));
  if (ended == workers_.end()) return;
  Worker& worker = ended->second;
  worker.has_ended = true;
  if (worker.notice == nullptr) return;
  const int64_t late_ns = event.t_ns + kStampSlackNs;
  const bool is_in_grace = late_ns < worker.notice_ns + worker.notice->grace_ns;
  const bool is_killed =
      (worker.killed_from_ns && *worker.killed_from_ns <= late_ns) ||
      (worker.kill_sent && worker.is_hindered);
  // A worker that is killed in its grace period for another reason than the
  // notice cannot exit.
  if (is_in_grace && is_killed) worker.notice = nullptr;
}

// Processes an event of a launcher. A launcher passes a notice on to each
// worker by a signal; the event kAskedToStop records this.
void Notices::OnLauncher(const RecordEvent& event) {
  if (event.kind == RecordKind::kExited) return NoteEnd(event);
  if (event.kind == RecordKind::kKillSent && event.about) {
    const auto killed = workers_.find(WorkerAbout(event));
    if (killed != workers_.end()) killed->second.kill_sent = true;
    return;
  }
  if (event.kind != RecordKind::kAskedToStop || !event.about ||
      event.reason == RecordReason::kUnreachable) {
    return;
  }
  const auto asked = workers_.find(WorkerAbout(event));
  if (asked == workers_.end() || asked->second.noticed_at) return;
  asked->second.delivered_at = asked->second.step;
  BeginGrace(asked->second, event.t_ns);
}

// Checks that workers agree to stop only if one of them has received a notice,
// or if a stop is planned. The notice of a worker that is gone (is_gone) counts
// too if it came before the last step of `worker`: both took part in the
// exchange of that step.
void Notices::CheckCause(const Emitter& by, const Worker& worker) {
  const bool is_planned = std::ranges::any_of(
      record_.setup.launches,
      [](const PlannedLaunch& launch) { return launch.stop_at_step > 0; });
  const bool is_noticed = std::ranges::any_of(workers_, [&](const auto& one) {
    const Worker& other = one.second;
    return other.noticed_at && other.generation == worker.generation &&
           (!other.is_gone || &other == &worker ||
            *other.noticed_at < worker.step);
  });
  if (is_planned || is_noticed) return;
  checks_.grace.Fail(
      "no-notice",
      fmt::format("{} agreed to stop after step {}, but no worker of "
                  "generation {} has received a notice",
                  NameOf(by), worker.step, worker.generation));
}

// Checks that a worker to which a signal was sent reports the notice within
// kStepsAfterNotice executions.
void Notices::CheckSees(const Emitter& by, Worker& worker) {
  const uint64_t most = kStepsAfterNotice * record_.setup.steps_per_execution;
  if (!worker.delivered_at || worker.stops ||
      worker.step <= *worker.delivered_at + most) {
    return;
  }
  checks_.grace.Count();
  checks_.grace.Fail(
      "not-seen",
      fmt::format("{} was sent a notice in step {}, and has not reported it "
                  "in step {}",
                  NameOf(by), *worker.delivered_at + 1, worker.step));
  worker.delivered_at.reset();
}

// Starts the grace period of the worker, unless an earlier notice has started
// it.
void Notices::BeginGrace(Worker& worker, int64_t t_ns) const {
  if (worker.grace_until_ns || record_.setup.notice_grace_ns <= 0) return;
  worker.grace_until_ns = t_ns + record_.setup.notice_grace_ns;
}

// Checks that a worker with a grace period stops before the period is over.
void Notices::CheckInGrace(const Emitter& by, Worker& worker,
                           const RecordEvent& event) {
  const bool is_over = worker.grace_until_ns && !worker.stops &&
                       event.t_ns > *worker.grace_until_ns;
  if (!is_over) return;
  const uint64_t most = kStepsAfterNotice * record_.setup.steps_per_execution;
  if (++worker.steps_over != most + 1) return;  // reported once
  checks_.grace.Count();
  checks_.grace.Fail(
      "overrun",
      fmt::format("{} trains {} steps after its grace period of {}", NameOf(by),
                  worker.steps_over,
                  DurationToText(Duration(record_.setup.notice_grace_ns))));
}

// Checks that the workers agree to stop within kStepsAfterNotice executions
// after one of them reported a notice.
void Notices::CheckHeeds(const Worker& worker, const RecordEvent& event) {
  // With a grace period, workers may train until it ends: CheckInGrace checks
  // that.
  if (record_.setup.notice_grace_ns > 0) return;
  const uint64_t most = kStepsAfterNotice * record_.setup.steps_per_execution;
  for (auto& [id, other] : workers_) {
    if (other.generation != worker.generation || !other.noticed_at ||
        other.stops || other.is_gone || other.has_ended ||
        event.step <= *other.noticed_at + most) {
      continue;
    }
    other.stops = true;  // reported once
    checks_.grace.Count();
    checks_.grace.Fail(
        "unheeded",
        fmt::format("{} received a termination notice in step {}, but step {} "
                    "was trained without an agreement to stop",
                    NameOf(id), *other.noticed_at + 1, event.step));
  }
}

void Notices::CheckEnd(const Emitter& by, Worker& worker,
                       const RecordEvent& event) {
  worker.is_gone = true;
  if (IsExit(event.count, {WorkerExit::kStartLater}) && event.step > 0) {
    if (const auto stop = stops_.find(worker.generation);
        stop != stops_.end()) {
      stop->second.given_up = true;
    }
  }
  const RecordFault* const notice = std::exchange(worker.notice, nullptr);
  if (notice == nullptr) return;
  const int64_t took = event.t_ns - worker.notice_ns;
  if (took > notice->grace_ns) {
    checks_.grace.Fail(
        FindingKind::kLateExit,
        fmt::format("{} exited after {:.3f} s, its grace period was {}",
                    NameOf(by), Seconds(took),
                    DurationToText(Duration(notice->grace_ns))));
  }
  // A worker need not have agreed on a step to stop at if it exits because it
  // lost another worker, or because the job cannot start.
  const bool lost = IsExit(event.count, {WorkerExit::kLostWorker});
  const bool cannot_start = !worker.has_model && IsRefusal(event.count);
  if (!worker.finished && !lost && !cannot_start) CheckStop(by, worker);
}

void Notices::CheckStop(const Emitter& by, const Worker& worker) {
  const auto stop = stops_.find(worker.generation);
  if (stop == stops_.end()) {
    return checks_.grace.Fail(
        FindingKind::kNoAgreement,
        fmt::format("{} exited without an agreed step to stop at", NameOf(by)));
  }
  if (!has_store_ || stop->second.saved || stop->second.given_up) return;
  checks_.grace.Fail(FindingKind::kNotSaved,
                     fmt::format("all workers stopped at step {}, which was "
                                 "never saved",
                                 stop->second.step));
}

void Notices::End() {
  for (const auto& [id, worker] : workers_) {
    if (worker.notice == nullptr) continue;
    // No launcher reports the end of a worker whose launcher was killed.
    const bool is_unreported =
        !worker.has_ended && worker.killed_from_ns &&
        *worker.killed_from_ns < worker.notice_ns + worker.notice->grace_ns;
    if (is_unreported) continue;
    checks_.grace.Fail(
        FindingKind::kKilled,
        fmt::format("{} did not exit within its grace period of {}", NameOf(id),
                    DurationToText(Duration(worker.notice->grace_ns))));
  }
}

}  // namespace gauntlet
