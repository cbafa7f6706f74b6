#include "engine/train/launcher/launcher.h"

#include <memory>
#include <optional>
#include <utility>

#include "engine/ckpt/protocol/ownership.h"
#include "engine/train/launcher/attempt.h"
#include "engine/train/launcher/launch_state.h"
#include "engine/train/notice/notice_sources.h"
#include "engine/train/notice/wait_or_notice.h"
#include "engine/train/save/store_lock.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

LaunchEnd FailedEnd(std::string reason) {
  return {.exit_code = static_cast<int>(WorkerExit::kFailed),
          .reason = std::move(reason)};
}

// Ends a launch after an error of the launcher itself.
LaunchEnd EndForError(const Status& status) {
  LaunchEnd end = FailedEnd(status.message());
  // A later start may have enough disk space and other resources.
  if (status.code() == Code::kResourceExhausted) {
    end.exit_code = static_cast<int>(WorkerExit::kLostWorker);
  }
  if (status.code() == Code::kForbidden ||
      status.code() == Code::kInvalidArgument) {
    end.exit_code = static_cast<int>(WorkerExit::kBadInput);
  }
  return end;
}

bool NeverRestarts(const LauncherOptions& options) {
  return options.restart == RestartPolicy::kNone || options.max_restarts == 0;
}

// Pauses between two attempts. Returns true if a preemption notice has arrived.
bool BackOff(LaunchState& launch, NoticeSources& sources) {
  const Clock& clock = launch.world.clock;
  const Time until = clock.Now() + launch.budget.pause();
  while (clock.Now() < until) {
    if (sources.AnyHasNotice(until)) return true;
    const Time next = clock.Now() + launch.options.notices.poll_every;
    const bool polls = !sources.empty() && next < until;
    if (WaitOrNotice(launch.world, polls ? next : until)) return true;
  }
  return false;
}

// Makes attempts at the job until one has a final outcome or no restart is
// allowed.
LaunchEnd RunAttempts(LaunchState& launch) {
  NoticeSources sources(launch.world, launch.options.notices,
                        [&launch](std::string line) {
                          launch.observer.Progress({.line = std::move(line)});
                        });
  while (true) {
    Attempt attempt(launch);
    const Status started = attempt.Run();
    if (!started.ok()) return EndForError(started);
    if (std::optional<LaunchEnd> end = attempt.FinalOutcome()) return *end;
    const std::string reason = attempt.RestartReason();
    if (!launch.CountRestart(reason)) {
      LaunchEnd end = FailedEnd(
          fmt::format("{}; gave up after {}", reason, launch.give_up_reason));
      if (NeverRestarts(launch.options)) {
        end.exit_code = static_cast<int>(launch.options.without_restarts);
      }
      return end;
    }
    if (BackOff(launch, sources)) {
      launch.world.events.Emit({.kind = EventKind::kNotice});
      launch.budget.Refund();
      return {.exit_code = static_cast<int>(WorkerExit::kStopped),
              .reason = "stopped between two attempts"};
    }
  }
}

// Runs the job while holding the lock of the checkpoint directory.
LaunchEnd RunLocked(LaunchState& launch) {
  const std::string& directory = launch.options.checkpoint_directory;
  const Result<std::unique_ptr<FileLock>> lock =
      LockStore(launch.world, directory, kOrphanExitTimeout,
                [&launch](const std::string& in_use) {
                  launch.observer.Progress({.line = "waiting: " + in_use});
                });
  // A later start may succeed: the run that holds the lock may be about to
  // exit.
  if (lock.status().code() == Code::kFailedPrecondition) {
    return {.exit_code = static_cast<int>(WorkerExit::kLostWorker),
            .reason = lock.status().message()};
  }
  if (!lock.ok()) return EndForError(lock.status());
  if (!directory.empty()) {
    Result<std::string> name = MakeLaunchName(launch.world, directory);
    if (!name.ok()) return EndForError(name.status());
    launch.launch_hold.launch = *std::move(name);
  }
  return RunAttempts(launch);
}

}  // namespace

LaunchEnd Launch(World& world, WorkerProcesses& processes,
                 const LauncherOptions& options, LaunchObserver& observer) {
  LaunchState launch{.world = world,
                     .processes = processes,
                     .options = options,
                     .observer = observer};
  world.events.Emit({.kind = EventKind::kLauncherBegin});
  LaunchEnd end = RunLocked(launch);
  end.restarts = launch.budget.spent();
  world.events.Emit({.kind = EventKind::kLauncherEnd, .count = end.exit_code});
  return end;
}

}  // namespace gauntlet
