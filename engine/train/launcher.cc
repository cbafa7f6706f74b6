#include "engine/train/launcher.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "engine/ckpt/ownership.h"
#include "engine/train/membership.h"
#include "engine/train/regroup.h"
#include "engine/train/restart_budget.h"
#include "engine/train/store_lock.h"
#include "engine/train/worker_loss.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// How often the launcher looks for notices of its own while it waits.
constexpr Duration kPollEvery = std::chrono::milliseconds(50);
// How long a predecessor's workers, killed with it, may hold the lock still.
constexpr Duration kLockPatience = std::chrono::seconds(5);

// Rejoining in a row that brings no step: then what is wrong may be with those
// that stay, and all start again.
constexpr int kFruitlessRejoins = 2;

constexpr int ExitCode(WorkerExit exit) { return static_cast<int>(exit); }

// Of the program: a second interrupt ended it.
constexpr int kInterrupted = 130;

class Launcher {
 public:
  Launcher(World& world, WorkerProcesses& processes,
           const LauncherOptions& options, LaunchObserver& observer)
      : world_(world),
        processes_(processes),
        options_(options),
        observer_(observer),
        membership_({.workers = options.workers,
                     .min_workers = options.min_workers,
                     .by_life = options.workers_by_life}),
        regroup_(options.survivors_grace),
        budget_(options),
        life_(options.first_life - 1) {}

  LaunchEnd Run();

 private:
  Status StartAll();
  Status Start(size_t rank);
  void Attend();
  void PassOnNotices();
  void WatchChief(Time now);
  void KillAll();
  void GiveThemUntil(Duration grace);
  void Take(const WorkerNotice& notice);
  void TakeProgress(int worker, const WorkerProgress& progress);
  void TakeExit(int worker, const WorkerExited& exited);
  bool MayRegroup() const;
  void TendRegroup(Time now);
  void NoteRegroup();
  void EndAttempt();
  LaunchEnd RunLives();
  bool RunAttempt(LaunchEnd& end);
  bool MayDoWithoutWhoFails() const;
  bool Conclude(LaunchEnd& end) const;
  std::string ReasonOfLosses();
  bool CountRestart(const std::string& reason);
  bool Pause(Duration pause);
  int chief() const { return members_.front(); }

  World& world_;
  WorkerProcesses& processes_;
  const LauncherOptions& options_;
  LaunchObserver& observer_;

  Membership membership_;
  Regroup regroup_;
  RestartBudget budget_;
  int life_;                             // the newest that was started
  std::vector<int> members_;             // of this attempt, by rank
  std::vector<std::string> addresses_;   // of this attempt, by rank
  std::map<int, bool> running_;          // by worker
  std::map<int, bool> put_down_;         // killed from here, by worker
  std::map<int, std::string> failures_;  // said in this attempt, by worker
  std::vector<Loss> losses_;  // of this attempt, in the order they came
  size_t blamed_ = 0;         // how many of them somebody was blamed for
  bool ending_ = false;       // this attempt: no worker of it starts again
  std::string ended_by_;      // why, where that is known
  std::optional<TrainResult> result_;
  Tenure tenure_;
  bool told_to_stop_ = false;
  bool interrupted_twice_ = false;
  Time kill_at_ = kNever;
  Duration patience_{0};
  Time hangs_at_ = kNever;   // the chief, if it says nothing until then
  std::string hang_;         // what was found then
  std::string why_give_up_;  // "" while another restart may be
};

Status Launcher::StartAll() {
  ++life_;
  members_ = membership_.Of(life_);
  ASSIGN_OR_RETURN(addresses_, processes_.ReserveAddresses(
                                   static_cast<int>(members_.size())));
  running_.clear();
  put_down_.clear();
  losses_.clear();
  blamed_ = 0;
  failures_.clear();
  result_.reset();
  kill_at_ = kNever;
  hangs_at_ = kNever;
  hang_.clear();
  ending_ = false;
  ended_by_.clear();
  regroup_.Begin(members_);
  for (size_t rank = 0; rank < members_.size() && !ending_; ++rank) {
    RETURN_IF_ERROR(Start(rank));
  }
  return OkStatus();
}

Status Launcher::Start(size_t rank) {
  const int worker = members_[rank];
  const Status started = processes_.Start({.worker = worker,
                                           .life = life_,
                                           .rank = static_cast<int>(rank),
                                           .addresses = addresses_,
                                           .tenure = tenure_});
  put_down_[worker] = false;
  failures_.erase(worker);
  running_[worker] = started.ok();
  if (started.ok() || !MayDoWithoutWhoFails()) return started;
  constexpr int kNotStarted = 127;
  losses_.push_back({.worker = worker,
                     .exited = {.code = kNotStarted},
                     .failure = "not started: " + started.message()});
  EndAttempt();
  return OkStatus();
}

void Launcher::KillAll() {
  for (const auto& [worker, runs] : running_) {
    if (!runs) continue;
    put_down_[worker] = true;
    processes_.Signal(worker, WorkerSignal::kKill);
  }
}

void Launcher::PassOnNotices() {
  if (!interrupted_twice_ && world_.host.Interrupts() > 1) {
    interrupted_twice_ = true;
    EndAttempt();
  }
  if (told_to_stop_ || world_.host.TerminationNotices() == 0) return;
  told_to_stop_ = true;
  GiveThemUntil(options_.stop_grace);
  for (const auto& [worker, runs] : running_) {
    if (runs) processes_.Signal(worker, WorkerSignal::kTerminate);
  }
}

// The workers that are left are killed then, if not earlier.
void Launcher::GiveThemUntil(Duration grace) {
  kill_at_ = std::min(kill_at_, world_.clock.Now() + grace);
}

void Launcher::Take(const WorkerNotice& notice) {
  if (const auto* progress = std::get_if<WorkerProgress>(&notice.what)) {
    TakeProgress(notice.worker, *progress);
  } else if (const auto* result = std::get_if<TrainResult>(&notice.what)) {
    result_ = *result;
    ending_ = true;
    GiveThemUntil(options_.stop_grace);
  } else {
    TakeExit(notice.worker, std::get<WorkerExited>(notice.what));
  }
}

void Launcher::TakeProgress(int worker, const WorkerProgress& progress) {
  const Time now = world_.clock.Now();
  if (progress.claimed > 0) {
    tenure_.claimed = std::max(tenure_.claimed, progress.claimed);
  } else if (progress.patience > Duration::zero()) {
    patience_ = progress.patience;
    hangs_at_ = now + patience_;
  } else if (progress.meeting) {
    budget_.Reached(progress.step);
    regroup_.Meets(worker, *progress.meeting, now);
    // Nobody else is to come.
    if (!MayRegroup()) GiveThemUntil(options_.survivors_grace);
  } else if (progress.formed > 0) {
    if (regroup_.is_news()) NoteRegroup();
    regroup_.Formed(progress.formed, now);
  } else if (progress.failure.empty()) {
    budget_.Reached(progress.step);
    observer_.Progress(progress);
  } else {
    failures_[worker] = progress.failure;
  }
}

void Launcher::TakeExit(int worker, const WorkerExited& exited) {
  running_[worker] = false;
  if (exited.code == ExitCode(WorkerExit::kDone)) {
    ending_ = true;
    GiveThemUntil(options_.stop_grace);
    return;
  }
  losses_.push_back({.worker = worker,
                     .exited = exited,
                     .failure = failures_[worker],
                     .put_down = put_down_[worker]});
  if (worker == chief()) hangs_at_ = kNever;
  if (Died(exited) && MayRegroup()) {
    regroup_.Died(worker, world_.clock.Now());
    return;
  }
  ending_ = true;
  const bool leaving =
      exited.signal == 0 && exited.code == ExitCode(WorkerExit::kStopped);
  GiveThemUntil(leaving ? options_.stop_grace : options_.survivors_grace);
}

// Whether a worker that is lost may be started again beside the others. Where
// all have to leave on a notice they still have to agree on a save.
bool Launcher::MayRegroup() const {
  return options_.restart == RestartPolicy::kRejoin && members_.size() > 1 &&
         !ending_ && !interrupted_twice_;
}

void Launcher::EndAttempt() {
  ending_ = true;
  KillAll();
}

// Takes a loss that is known in full into account: whose fault it was, and
// whether one more is allowed. Where not, the attempt ends.
void Launcher::NoteRegroup() {
  regroup_.TakeNote();
  const std::string reason =
      losses_.size() > blamed_ ? ReasonOfLosses() : "workers lost each other";
  // Another membership is another ring: all start again.
  const bool same = membership_.Of(life_ + 1) == members_;
  const bool helps = budget_.fruitless() < kFruitlessRejoins;
  if (same && helps && CountRestart(reason)) return;
  ended_by_ = reason;
  EndAttempt();
}

void Launcher::TendRegroup(Time now) {
  if (!MayRegroup() || !regroup_.is_open()) return;
  for (const int worker : regroup_.Overdue(now)) {
    if (put_down_[worker]) continue;
    put_down_[worker] = true;
    processes_.Signal(worker, WorkerSignal::kKill);
  }
  if (regroup_.is_news() && regroup_.IsComplete()) NoteRegroup();
  const bool all_gone =
      std::ranges::none_of(running_, &std::pair<const int, bool>::second);
  if (ending_ || all_gone || regroup_.is_news() || regroup_.dead().empty() ||
      now < regroup_.opened_at() + budget_.pause()) {
    return;
  }
  ++life_;
  for (size_t rank = 0; rank < members_.size(); ++rank) {
    if (!regroup_.dead().contains(members_[rank])) continue;
    if (!Start(rank).ok()) return EndAttempt();
    regroup_.Started(members_[rank]);
  }
}

// Where all hang, or the only one, nobody else notices.
void Launcher::WatchChief(Time now) {
  if (now < hangs_at_ || !running_[chief()]) return;
  if (!processes_.Hears(chief())) {
    hangs_at_ = now + patience_;
    return;
  }
  hangs_at_ = kNever;
  hang_ = fmt::format("the chief hangs: no sign of it for {:.1f} s",
                      std::chrono::duration<double>(patience_).count());
  EndAttempt();
}

// Until no worker runs.
void Launcher::Attend() {
  while (std::ranges::any_of(running_, &std::pair<const int, bool>::second)) {
    PassOnNotices();
    const Time now = world_.clock.Now();
    if (now >= kill_at_) {
      kill_at_ = kNever;
      EndAttempt();
    }
    WatchChief(now);
    TendRegroup(now);
    const std::optional<WorkerNotice> notice =
        processes_.Next(std::min(now + kPollEvery, kill_at_));
    if (notice) Take(*notice);
  }
}

// Whether the run is over; if so, how.
bool Launcher::Conclude(LaunchEnd& end) const {
  end.result = result_;
  if (result_) {
    // Said by the chief once all had come to the end: what became of the
    // processes after that does not matter, unless it could not clear up.
    end.exit_code = result_->status == "done" ? ExitCode(WorkerExit::kDone)
                                              : ExitCode(WorkerExit::kStopped);
    for (const Loss& loss : losses_) {
      if (loss.worker != chief() || loss.exited.signal != 0 ||
          loss.exited.code != ExitCode(WorkerExit::kFailed)) {
        continue;
      }
      end.exit_code = loss.exited.code;
      end.reason = "done, but the chief failed while it cleared up";
    }
    return true;
  }
  for (const WorkerExit permanent :
       {WorkerExit::kBadInput, WorkerExit::kNoCheckpoint,
        WorkerExit::kFailed}) {
    for (const Loss& loss : losses_) {
      if (loss.exited.signal != 0 || loss.exited.code != ExitCode(permanent)) {
        continue;
      }
      end.exit_code = loss.exited.code;
      end.reason = Describe(loss);
      return true;
    }
  }
  if (interrupted_twice_) {
    end.exit_code = kInterrupted;
    end.reason = "interrupted twice";
    return true;
  }
  if (told_to_stop_) {
    end.exit_code = ExitCode(WorkerExit::kStopped);
    end.reason = "stopped before the workers could agree on a save";
    return true;
  }
  return false;
}

bool Launcher::RunAttempt(LaunchEnd& end) {
  const Status started = StartAll();
  if (!started.ok()) {
    EndAttempt();
    Attend();
    end.exit_code = ExitCode(WorkerExit::kFailed);
    end.reason = started.message();
    return true;
  }
  Attend();
  return Conclude(end);
}

// A worker that cannot even be started fails like one that dies at once, where
// others may be enough.
bool Launcher::MayDoWithoutWhoFails() const {
  return options_.min_workers > 0 && options_.min_workers < options_.workers &&
         options_.restart != RestartPolicy::kNone;
}

// Whether the pause ended without a notice.
bool Launcher::Pause(Duration pause) {
  const Time until = world_.clock.Now() + pause;
  while (world_.clock.Now() < until) {
    if (world_.host.TerminationNotices() > 0) return false;
    world_.clock.SleepUntil(std::min(until, world_.clock.Now() + kPollEvery));
  }
  return true;
}

// What the losses since the last time came from, and what follows of it for the
// worker that is to blame.
std::string Launcher::ReasonOfLosses() {
  if (!ended_by_.empty()) return ended_by_;
  const std::span<const Loss> news = std::span(losses_).subspan(blamed_);
  const bool somebody_died = std::ranges::any_of(
      news, [](const Loss& loss) { return Died(loss.exited); });
  std::string reason = !hang_.empty()    ? hang_
                       : losses_.empty() ? "no worker reported a result"
                       : news.empty()    ? Describe(losses_.back())
                                         : Describe(news.front());
  if (somebody_died || blamed_ == 0) {
    const std::string follows = membership_.Blame(CulpritOf(news));
    if (!follows.empty()) reason += "; " + follows;
  }
  blamed_ = losses_.size();
  return reason;
}

// Of the whole job, or of workers that rejoin. False: it may not be.
bool Launcher::CountRestart(const std::string& reason) {
  if (!why_give_up_.empty()) return false;
  why_give_up_ = membership_.too_few().empty()
                     ? budget_.Spend()
                     : fmt::format("{} restarts, with too few workers left",
                                   budget_.spent());
  if (!why_give_up_.empty()) return false;
  observer_.Restarting(budget_.spent(), reason, budget_.pause());
  return true;
}

LaunchEnd Launcher::RunLives() {
  LaunchEnd end;
  const Result<std::unique_ptr<FileLock>> lock =
      LockStore(world_, options_.checkpoint_directory, kLockPatience);
  if (!lock.ok()) {
    end.exit_code = ExitCode(WorkerExit::kFailed);
    end.reason = lock.status().message();
    return end;
  }
  if (const std::string& directory = options_.checkpoint_directory;
      !directory.empty()) {
    Result<std::string> launch = MakeLaunchName(world_, directory);
    if (!launch.ok()) {
      end.exit_code = ExitCode(WorkerExit::kFailed);
      end.reason = launch.status().message();
      return end;
    }
    tenure_.launch = *std::move(launch);
  }
  while (true) {
    if (RunAttempt(end)) return end;
    const std::string reason = ReasonOfLosses();
    if (!CountRestart(reason)) {
      end.exit_code = ExitCode(WorkerExit::kFailed);
      end.reason = fmt::format("{}; gave up after {}", reason, why_give_up_);
      return end;
    }
    if (!Pause(budget_.pause())) {
      end.exit_code = ExitCode(WorkerExit::kStopped);
      end.reason = "stopped between two lives of the job";
      return end;
    }
  }
}

LaunchEnd Launcher::Run() {
  LaunchEnd end = RunLives();
  end.restarts = budget_.spent();
  return end;
}

}  // namespace

LaunchEnd Launch(World& world, WorkerProcesses& processes,
                 const LauncherOptions& options, LaunchObserver& observer) {
  return Launcher(world, processes, options, observer).Run();
}

}  // namespace gauntlet
