#include "engine/train/launcher.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "engine/ckpt/checkpoint_store.h"
#include "engine/ckpt/ownership.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// How often the launcher looks for notices of its own while it waits.
constexpr Duration kPollEvery = std::chrono::milliseconds(50);
// How long a predecessor's workers, killed with it, may hold the lock still.
constexpr Duration kLockPatience = std::chrono::seconds(5);

constexpr int ExitCode(WorkerExit exit) { return static_cast<int>(exit); }

// Of the program: a second interrupt ended it.
constexpr int kInterrupted = 130;

struct Loss {
  int worker = 0;
  WorkerExited exited;
  std::string failure;  // what it said of it, if anything
};

std::string Describe(const Loss& loss) {
  if (loss.exited.signal != 0) {
    return fmt::format("worker {} was killed by signal {}", loss.worker,
                       loss.exited.signal);
  }
  if (loss.exited.code == ExitCode(WorkerExit::kLostWorker)) {
    return fmt::format("worker {} cannot go on: {}", loss.worker,
                       loss.failure.empty()
                           ? "another worker or the disk failed"
                           : loss.failure);
  }
  const std::string text = fmt::format("worker {} exited with code {}",
                                       loss.worker, loss.exited.code);
  return loss.failure.empty() ? text : text + ": " + loss.failure;
}

class Launcher {
 public:
  Launcher(World& world, WorkerProcesses& processes,
           const LauncherOptions& options, LaunchObserver& observer)
      : world_(world),
        processes_(processes),
        options_(options),
        observer_(observer) {}

  LaunchEnd Run();

 private:
  Result<std::unique_ptr<FileLock>> LockDirectory();
  Status StartAll(int life);
  void Attend();
  void PassOnNotices();
  void WatchChief(Time now);
  void KillAll();
  void GiveThemUntil(Duration grace);
  void Take(const WorkerNotice& notice);
  bool RunAttempt(int life, LaunchEnd& end);
  bool Conclude(LaunchEnd& end) const;
  std::string WhyGiveUp(int restarts, int fruitless) const;
  bool Pause(Duration pause);

  World& world_;
  WorkerProcesses& processes_;
  const LauncherOptions& options_;
  LaunchObserver& observer_;

  std::vector<bool> running_;
  std::map<int, std::string> failures_;  // said in this attempt, by worker
  std::vector<Loss> losses_;  // of this attempt, in the order they came
  std::optional<TrainResult> result_;
  Tenure tenure_;
  bool told_to_stop_ = false;
  bool interrupted_twice_ = false;
  uint64_t furthest_step_ = 0;  // that any life reported
  Time kill_at_ = kNever;
  Duration patience_{0};
  Time hangs_at_ = kNever;  // the chief, if it says nothing until then
  std::string hang_;        // what was found then
};

Result<std::unique_ptr<FileLock>> Launcher::LockDirectory() {
  const std::string& directory = options_.checkpoint_directory;
  if (directory.empty()) return std::unique_ptr<FileLock>();
  RETURN_IF_ERROR(
      CheckpointStore::Open(world_, {.directory = directory}).status());
  const Time give_up = world_.clock.Now() + kLockPatience;
  while (true) {
    Result<std::unique_ptr<FileLock>> lock =
        world_.storage.Lock(directory + "/lock");
    if (lock.ok() || lock.status().code() != Code::kAlreadyExists) return lock;
    if (world_.clock.Now() >= give_up) {
      return FailedPrecondition(fmt::format(
          "{}: in use by another run (its lock is held)", directory));
    }
    world_.clock.SleepUntil(world_.clock.Now() + kPollEvery);
  }
}

Status Launcher::StartAll(int life) {
  ASSIGN_OR_RETURN(const std::vector<std::string> addresses,
                   processes_.ReserveAddresses(options_.workers));
  running_.assign(static_cast<size_t>(options_.workers), false);
  losses_.clear();
  failures_.clear();
  result_.reset();
  kill_at_ = kNever;
  hangs_at_ = kNever;
  hang_.clear();
  for (int worker = 0; worker < options_.workers; ++worker) {
    RETURN_IF_ERROR(processes_.Start({.worker = worker,
                                      .life = life,
                                      .rank = worker,
                                      .addresses = addresses,
                                      .tenure = tenure_}));
    running_[static_cast<size_t>(worker)] = true;
  }
  return OkStatus();
}

void Launcher::KillAll() {
  for (size_t worker = 0; worker < running_.size(); ++worker) {
    if (running_[worker]) {
      processes_.Signal(static_cast<int>(worker), WorkerSignal::kKill);
    }
  }
}

void Launcher::PassOnNotices() {
  if (!interrupted_twice_ && world_.host.Interrupts() > 1) {
    interrupted_twice_ = true;
    KillAll();
  }
  if (told_to_stop_ || world_.host.TerminationNotices() == 0) return;
  told_to_stop_ = true;
  GiveThemUntil(options_.stop_grace);
  for (size_t worker = 0; worker < running_.size(); ++worker) {
    if (running_[worker]) {
      processes_.Signal(static_cast<int>(worker), WorkerSignal::kTerminate);
    }
  }
}

// The workers that are left are killed then, if not earlier.
void Launcher::GiveThemUntil(Duration grace) {
  kill_at_ = std::min(kill_at_, world_.clock.Now() + grace);
}

void Launcher::Take(const WorkerNotice& notice) {
  if (const auto* progress = std::get_if<WorkerProgress>(&notice.what)) {
    if (progress->claimed > 0) {
      tenure_.claimed = std::max(tenure_.claimed, progress->claimed);
    } else if (progress->patience > Duration::zero()) {
      patience_ = progress->patience;
      hangs_at_ = world_.clock.Now() + patience_;
    } else if (progress->failure.empty()) {
      furthest_step_ = std::max(furthest_step_, progress->step);
      observer_.Progress(*progress);
    } else {
      failures_[notice.worker] = progress->failure;
    }
  } else if (const auto* result = std::get_if<TrainResult>(&notice.what)) {
    result_ = *result;
    GiveThemUntil(options_.stop_grace);
  } else {
    const auto& exited = std::get<WorkerExited>(notice.what);
    running_[static_cast<size_t>(notice.worker)] = false;
    if (exited.code == ExitCode(WorkerExit::kDone)) {
      GiveThemUntil(options_.stop_grace);
      return;
    }
    losses_.push_back({.worker = notice.worker,
                       .exited = exited,
                       .failure = failures_[notice.worker]});
    const bool leaving =
        exited.signal == 0 && exited.code == ExitCode(WorkerExit::kStopped);
    GiveThemUntil(leaving ? options_.stop_grace : options_.survivors_grace);
  }
}

// Where all hang, or the only one, nobody else notices.
void Launcher::WatchChief(Time now) {
  if (now < hangs_at_ || !running_[0]) return;
  if (!processes_.Hears(0)) {
    hangs_at_ = now + patience_;
    return;
  }
  hangs_at_ = kNever;
  hang_ = fmt::format("the chief hangs: no sign of it for {:.1f} s",
                      std::chrono::duration<double>(patience_).count());
  KillAll();
}

// Until no worker runs.
void Launcher::Attend() {
  while (std::find(running_.begin(), running_.end(), true) != running_.end()) {
    PassOnNotices();
    const Time now = world_.clock.Now();
    if (now >= kill_at_) {
      kill_at_ = kNever;
      KillAll();
    }
    WatchChief(now);
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
      if (loss.worker != 0 || loss.exited.signal != 0 ||
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

bool Launcher::RunAttempt(int life, LaunchEnd& end) {
  const Status started = StartAll(life);
  if (!started.ok()) {
    KillAll();
    Attend();
    end.exit_code = ExitCode(WorkerExit::kFailed);
    end.reason = started.message();
    return true;
  }
  Attend();
  return Conclude(end);
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

// "" if another life is to be tried.
std::string Launcher::WhyGiveUp(int restarts, int fruitless) const {
  if (options_.restart == RestartPolicy::kNone ||
      restarts >= options_.max_restarts) {
    return fmt::format("{} restarts", restarts);
  }
  if (fruitless > options_.max_fruitless) {
    return fmt::format("{} lives without a new step", fruitless);
  }
  return "";
}

LaunchEnd Launcher::Run() {
  LaunchEnd end;
  const Result<std::unique_ptr<FileLock>> lock = LockDirectory();
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
  Duration pause = std::min(options_.backoff, options_.max_backoff);
  int fruitless = 0;  // lives in a row that came no further than earlier ones
  for (int life = options_.first_life;; ++life) {
    const uint64_t furthest_before = furthest_step_;
    if (RunAttempt(life, end)) return end;
    end.reason = !hang_.empty()    ? hang_
                 : losses_.empty() ? "no worker reported a result"
                                   : Describe(losses_.front());
    const bool progress = furthest_step_ > furthest_before;
    fruitless = progress ? 0 : fruitless + 1;
    if (progress) pause = std::min(options_.backoff, options_.max_backoff);
    if (const std::string why = WhyGiveUp(end.restarts, fruitless);
        !why.empty()) {
      end.exit_code = ExitCode(WorkerExit::kFailed);
      end.reason = fmt::format("{}; gave up after {}", end.reason, why);
      return end;
    }
    ++end.restarts;
    observer_.Restarting(end.restarts, end.reason, pause);
    if (!Pause(pause)) {
      end.exit_code = ExitCode(WorkerExit::kStopped);
      end.reason = "stopped between two lives of the job";
      return end;
    }
    pause = std::min(pause * 2, options_.max_backoff);
    end.reason.clear();
  }
}

}  // namespace

LaunchEnd Launch(World& world, WorkerProcesses& processes,
                 const LauncherOptions& options, LaunchObserver& observer) {
  return Launcher(world, processes, options, observer).Run();
}

}  // namespace gauntlet
