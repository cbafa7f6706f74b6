#include "engine/train/launcher/attempt.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>

#include "engine/check.h"
#include "engine/train/launcher/worker_loss.h"
#include "engine/train/notice/wait_or_notice.h"
#include "engine/train/worker_exit.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// After this many consecutive restarts, each without a new step since the one
// before, the next loss restarts all workers: the fault may be in the workers
// that kept running.
constexpr int kRestartsBeforeWholeJob = 2;

// If this much time passes between two checks of the workers, the launcher
// concludes that it was paused itself (SIGSTOP, a frozen container). Normally
// the time is far shorter.
constexpr Duration kPausedItself = std::chrono::seconds(1);

// Exit code of a worker that could not be started, as in a shell.
constexpr int kNotStarted = 127;

}  // namespace

Attempt::Attempt(LaunchState& launch)
    : launch_(launch),
      world_(launch.world),
      processes_(launch.processes),
      options_(launch.options),
      outcome_(launch),
      rejoin_({.step = launch.options.rejoin_grace,
               .silent = launch.options.survivors_grace}) {}

void Attempt::Enter(AttemptState state) {
  CHECK(MayFollow(state_, state), "not a transition of attempt_state.h");
  state_ = state;
}

Status Attempt::Run() {
  CHECK(state_ == AttemptState::kStarting, "an attempt runs only once");
  const Status started = StartAll();
  if (!started.ok()) End(Reason::kNotStarted);
  if (state_ == AttemptState::kStarting) Enter(AttemptState::kRunning);
  RunEventLoop();
  Enter(AttemptState::kEnded);
  return started;
}

Status Attempt::StartAll() {
  ++launch_.incarnation;
  members_ = launch_.membership.WorkersOf(launch_.incarnation);
  ASSIGN_OR_RETURN(addresses_, processes_.ReserveAddresses(
                                   static_cast<int>(members_.size())));
  rejoin_.Begin(members_);
  for (size_t rank = 0; rank < members_.size(); ++rank) {
    RETURN_IF_ERROR(Start(rank));
    if (state_ == AttemptState::kEnding) break;
  }
  return OkStatus();
}

// Starts a worker. If that fails and the job may continue with fewer workers,
// ends the attempt and returns Ok. If it fails otherwise, returns the error.
Status Attempt::Start(size_t rank) {
  CHECK(state_ == AttemptState::kStarting || state_ == AttemptState::kRunning,
        "a worker is started in an attempt that is ending");
  const int worker = members_[rank];
  incarnations_[worker] = {.number = launch_.incarnation};
  LogEvent start = EventAbout(EventKind::kStarted, worker);
  start.count = static_cast<int64_t>(rank);
  world_.events.Emit(std::move(start));
  const Status started = processes_.Start({.worker = worker,
                                           .incarnation = launch_.incarnation,
                                           .rank = static_cast<int>(rank),
                                           .addresses = addresses_,
                                           .token = launch_.token,
                                           .launch_hold = launch_.launch_hold});
  if (!started.ok()) {
    LogEvent event = EventAbout(EventKind::kExited, worker);
    event.reason = Reason::kNotStarted;
    world_.events.Emit(std::move(event));
  }
  if (worker == chief()) SetChiefDeadline(options_.start_timeout);
  if (started.ok()) incarnations_[worker].process = ProcessState::kRunning;
  if (started.ok() || !CanExcludeFailedWorker()) return started;
  outcome_.AddLoss({.worker = worker,
                    .exited = {.code = kNotStarted},
                    .failure = "not started: " + started.message()});
  End(Reason::kNotStarted, worker);
  return OkStatus();
}

// Returns true if the job may continue with fewer workers. A worker that cannot
// be started then counts as a lost worker, which may be excluded.
bool Attempt::CanExcludeFailedWorker() const {
  return options_.min_workers > 0 && options_.min_workers < options_.workers &&
         options_.restart != RestartPolicy::kNone;
}

LogEvent Attempt::EventAbout(EventKind kind, int worker) const {
  const auto incarnation = incarnations_.find(worker);
  return {.kind = kind,
          .about = worker,
          .incarnation = incarnation == incarnations_.end()
                             ? 0
                             : incarnation->second.number};
}

void Attempt::Kill(int worker, Reason why) {
  CHECK(IsRunning(worker), "a worker is killed after its exit");
  LogEvent event = EventAbout(EventKind::kKillSent, worker);
  event.reason = why;
  world_.events.Emit(std::move(event));
  incarnations_[worker].process = ProcessState::kKillSent;
  processes_.Signal(worker, WorkerSignal::kKill);
}

void Attempt::KillAll(Reason why) {
  for (const auto& [worker, incarnation] : incarnations_) {
    if (incarnation.runs()) Kill(worker, why);
  }
}

void Attempt::EnterEnding(Reason why, std::optional<int> worker) {
  if (state_ == AttemptState::kEnding) return;
  Enter(AttemptState::kEnding);
  LogEvent event = worker ? EventAbout(EventKind::kAttemptEnds, *worker)
                          : LogEvent{.kind = EventKind::kAttemptEnds};
  event.reason = why;
  world_.events.Emit(std::move(event));
}

void Attempt::End(Reason why, std::optional<int> worker) {
  EnterEnding(why, worker);
  KillAll(why);
}

void Attempt::ForwardNotices() {
  if (!launch_.interrupted_twice && world_.host.Interrupts() > 1) {
    launch_.interrupted_twice = true;
    End(Reason::kInterrupted);
  }
  if (launch_.stop_requested || world_.host.TerminationNotices() == 0) return;
  launch_.stop_requested = true;
  world_.events.Emit({.kind = EventKind::kNotice});
  SetKillDeadline(options_.stop_grace);
  for (const auto& [worker, incarnation] : incarnations_) {
    if (!incarnation.runs()) continue;
    LogEvent event = EventAbout(EventKind::kAskedToStop, worker);
    if (!processes_.IsReachable(worker)) event.reason = Reason::kUnreachable;
    world_.events.Emit(std::move(event));
    processes_.Signal(worker, WorkerSignal::kTerminate);
  }
}

// Kills the remaining workers after `grace`, unless an earlier deadline is set.
void Attempt::SetKillDeadline(Duration grace) {
  kill_deadline_ = std::min(kill_deadline_, world_.clock.Now() + grace);
}

void Attempt::Handle(const WorkerEvent& event) {
  if (const auto* progress = std::get_if<WorkerProgress>(&event.content)) {
    HandleProgress(event.worker, *progress);
  } else if (const auto* result = std::get_if<TrainResult>(&event.content)) {
    HandleResult(event.worker, *result);
  } else {
    HandleExit(event.worker, std::get<WorkerExited>(event.content));
  }
}

void Attempt::HandleResult(int worker, const TrainResult& result) {
  LogEvent event = EventAbout(EventKind::kResultReceived, worker);
  event.step = result.steps;
  world_.events.Emit(std::move(event));
  outcome_.SetResult(result);
  processes_.Acknowledge(worker);
  EnterEnding(Reason::kResult, worker);
  SetKillDeadline(std::max(options_.stop_grace, patience_));
}

void Attempt::HandleProgress(int worker, const WorkerProgress& progress) {
  const Time now = world_.clock.Now();
  if (progress.claimed > 0) {
    launch_.launch_hold.claimed =
        std::max(launch_.launch_hold.claimed, progress.claimed);
  } else if (progress.patience > Duration::zero()) {
    SetChiefDeadline(progress.patience);
  } else if (progress.rendezvous) {
    launch_.budget.RecordStep(progress.step);
    rejoin_.OnRendezvous(worker, *progress.rendezvous,
                         MemberOf(progress.silent_rank), now);
    // This worker waits at the rendezvous in vain: the launcher does not
    // restart the lost worker.
    if (!MayRejoin()) SetKillDeadline(options_.survivors_grace);
  } else if (progress.saving) {
    if (*progress.saving > Duration::zero()) {
      rejoin_.OnSaveBegun(worker, now + *progress.saving);
    } else {
      rejoin_.OnSaveEnded(worker, now);
    }
  } else if (progress.formed > 0) {
    if (rejoin_.has_new_losses()) HandleLosses();
    rejoin_.OnFormed(progress.formed, now);
  } else if (progress.failure.empty()) {
    launch_.budget.RecordStep(progress.step);
    if (progress.not_finite_since &&
        !launch_.NoteNotFinite(*progress.not_finite_since)) {
      return;
    }
    launch_.observer.Progress(progress);
  } else {
    Incarnation& incarnation = incarnations_[worker];
    // Once the worker has reported a failure of its own device, its later
    // reports are about the consequences, and do not replace the first one.
    if (progress.own_device_failed || !incarnation.own_device_failed) {
      incarnation.failure = progress.failure;
    }
    if (progress.own_device_failed) incarnation.own_device_failed = true;
  }
}

std::optional<int> Attempt::MemberOf(std::optional<int> rank) const {
  if (!rank || *rank < 0 || static_cast<size_t>(*rank) >= members_.size()) {
    return std::nullopt;
  }
  return members_[static_cast<size_t>(*rank)];
}

void Attempt::HandleExit(int worker, const WorkerExited& exited) {
  Incarnation& incarnation = incarnations_[worker];
  const bool killed_by_launcher =
      std::exchange(incarnation.process, ProcessState::kExited) ==
      ProcessState::kKillSent;
  LogEvent event = EventAbout(EventKind::kExited, worker);
  event.count = exited.code;
  event.reason = !exited.is_certain   ? Reason::kUnreachable
                 : exited.signal != 0 ? Reason::kSignal
                                      : Reason::kExited;
  world_.events.Emit(std::move(event));
  if (exited.code == WorkerExitCode(WorkerExit::kDone)) {
    EnterEnding(Reason::kWorkerDone, worker);
    // The chief may still have to export the model or delete checkpoints.
    SetKillDeadline(std::max(options_.stop_grace, patience_));
    return;
  }
  const Loss loss = {.worker = worker,
                     .exited = exited,
                     .failure = incarnation.failure,
                     .killed_by_launcher = killed_by_launcher,
                     .own_device_failed = incarnation.own_device_failed};
  outcome_.AddLoss(loss);
  if (worker == chief()) chief_deadline_ = kNever;
  if (FailedItself(loss) && MayRejoin()) {
    rejoin_.OnDeath(worker, world_.clock.Now());
    return;
  }
  EnterEnding(Died(exited) ? Reason::kWorkerDied : Reason::kWorkerLeft, worker);
  const bool leaving = exited.signal == 0 &&
                       (exited.code == WorkerExitCode(WorkerExit::kStopped) ||
                        exited.code == WorkerExitCode(WorkerExit::kNotFinite));
  SetKillDeadline(leaving ? options_.stop_grace : options_.survivors_grace);
}

// Returns true if a lost worker may be restarted while the others run. A
// preemption notice does not prevent such a restart: the save that follows
// needs all workers.
bool Attempt::MayRejoin() const {
  return state_ == AttemptState::kRunning &&
         options_.restart == RestartPolicy::kRejoin && members_.size() > 1;
}

// Handles losses once all reports on them have arrived: determines the cause
// and counts a restart. Ends the attempt if no restart is allowed, or if all
// workers must restart.
void Attempt::HandleLosses() {
  if (!rejoin_.ConsumeLosses()) return;
  const std::string reason = outcome_.has_new_losses()
                                 ? outcome_.ExplainLosses()
                                 : "workers lost each other";
  // If the next incarnation has other members, its ring differs, and all
  // workers must restart.
  const bool same =
      launch_.membership.WorkersOf(launch_.incarnation + 1) == members_;
  const bool helps =
      launch_.budget.restarts_without_progress() < kRestartsBeforeWholeJob;
  if (same && helps && launch_.CountRestart(reason)) return;
  restart_reason_ = reason;
  End(Reason::kTooManyLosses);
}

bool Attempt::IsRunning(int worker) const {
  const auto incarnation = incarnations_.find(worker);
  return incarnation != incarnations_.end() && incarnation->second.runs();
}

bool Attempt::AnyIsRunning() const {
  return std::ranges::any_of(
      incarnations_, [](const auto& newest) { return newest.second.runs(); });
}

// While a rejoin is open: kills overdue workers, handles losses, and restarts
// the lost workers after the pause.
void Attempt::AdvanceRejoin(Time now) {
  if (!MayRejoin() || !rejoin_.is_open()) return;
  // While events are unread, no worker counts as overdue: one of the events may
  // be the worker's report.
  if (all_events_read_) {
    for (const int worker : rejoin_.OverdueWorkers(now)) {
      if (incarnations_[worker].process == ProcessState::kRunning) {
        Kill(worker, Reason::kNoSign);
      }
    }
  }
  if (rejoin_.has_new_losses() && rejoin_.IsComplete()) HandleLosses();
  if (state_ != AttemptState::kRunning || !AnyIsRunning() ||
      rejoin_.has_new_losses() || rejoin_.dead().empty() ||
      now < rejoin_.opened_at() + launch_.budget.pause()) {
    return;
  }
  RestartLostWorkers();
}

void Attempt::RestartLostWorkers() {
  ++launch_.incarnation;
  for (size_t rank = 0; rank < members_.size(); ++rank) {
    if (!rejoin_.dead().contains(members_[rank])) continue;
    if (!Start(rank).ok()) return End(Reason::kNotStarted, members_[rank]);
    if (state_ == AttemptState::kEnding) return;
    rejoin_.OnRestarted(members_[rank]);
  }
}

void Attempt::SetChiefDeadline(Duration patience) {
  patience_ = patience;
  chief_deadline_ = world_.clock.Now() + patience;
}

// Detects that the chief hangs. Only the launcher can detect this if all
// workers hang, or if there is only one worker.
void Attempt::CheckChief(Time now) {
  if (now < chief_deadline_ || !IsRunning(chief())) return;
  if (!processes_.IsReachable(chief())) {
    chief_deadline_ = now + patience_;
    return;
  }
  chief_deadline_ = kNever;
  outcome_.SetHang(
      fmt::format("the chief hangs: no sign of it for {:.1f} s",
                  std::chrono::duration<double>(patience_).count()));
  LogEvent event = EventAbout(EventKind::kWorkerLost, chief());
  event.reason = Reason::kSilent;
  event.limit_ns = patience_.count();
  world_.events.Emit(std::move(event));
  End(Reason::kChiefSilent, chief());
}

// Extends all deadlines by the time for which this process was paused: messages
// that arrived during the pause are still unread.
void Attempt::AllowForPause(Time now) {
  const Duration missed = now - checked_at_;
  checked_at_ = now;
  if (missed < kPausedItself) return;
  if (kill_deadline_ != kNever) kill_deadline_ += missed;
  if (chief_deadline_ != kNever) chief_deadline_ += missed;
  rejoin_.AllowForPause(missed);
}

// Runs until no worker is left.
void Attempt::RunEventLoop() {
  checked_at_ = world_.clock.Now();
  while (AnyIsRunning()) {
    AllowForPause(world_.clock.Now());
    ForwardNotices();
    const Time now = world_.clock.Now();
    if (now >= kill_deadline_) {
      kill_deadline_ = kNever;
      End(Reason::kGraceOver);
    }
    CheckChief(now);
    AdvanceRejoin(now);
    const std::optional<WorkerEvent> event =
        processes_.Next(std::min(now + kNoticePollInterval, kill_deadline_));
    all_events_read_ = !event;
    if (event) Handle(*event);
  }
}

std::optional<LaunchEnd> Attempt::FinalOutcome() const {
  CHECK(state_ == AttemptState::kEnded, "the attempt still runs");
  return outcome_.Final(chief());
}

std::string Attempt::RestartReason() {
  CHECK(state_ == AttemptState::kEnded, "the attempt still runs");
  return restart_reason_.empty() ? outcome_.ExplainLosses() : restart_reason_;
}

}  // namespace gauntlet
