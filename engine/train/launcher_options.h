// Options of a launcher, and their encoding as text. The harness passes this
// text to `gauntlet launch`.
#ifndef GAUNTLET_ENGINE_TRAIN_LAUNCHER_OPTIONS_H_
#define GAUNTLET_ENGINE_TRAIN_LAUNCHER_OPTIONS_H_

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "engine/restart_limits.h"
#include "engine/status.h"
#include "engine/train/options.h"
#include "engine/worker_exit_code.h"

namespace gauntlet {

struct LauncherOptions {
  int workers = 1;  // maximum number of workers
  // See MembershipOptions.
  int min_workers = 0;
  std::vector<int> workers_per_attempt;
  RestartPolicy restart = RestartPolicy::kWholeJob;
  int max_restarts = 100;
  // Exit code of the job after a loss if the options allow no restart at all.
  // The caller sets kLostWorker if something other than the launcher may
  // restart the job.
  WorkerExit without_restarts = WorkerExit::kFailed;
  // Maximum number of consecutive restarts without a new step.
  int max_restarts_without_progress = kMaxRestartsWithoutProgress;
  // Pause before a restart. Doubles, up to the maximum, if the attempt made no
  // new step and was no longer than the doubled pause.
  Duration backoff = std::chrono::milliseconds(100);
  Duration max_backoff = std::chrono::seconds(10);
  // Time for the other workers to detect a loss and exit. The launcher then
  // kills those that still run.
  Duration survivors_grace = std::chrono::milliseconds(500);
  // With kRejoin, the time for the other workers to detect a loss and rejoin
  // (RejoinGraceOf). It is longer than survivors_grace, so that the launcher
  // does not kill a worker in a long step: after a kill, steps would have to be
  // recomputed. A worker whose heartbeat has stopped has only survivors_grace.
  Duration rejoin_grace = std::chrono::milliseconds(500);
  // Maximum time from the chief's start to its first report, which it sends
  // when its data is loaded. Each report sets the limit for the next one.
  Duration start_timeout = std::chrono::minutes(10);
  // Time for workers to save and exit after a preemption notice.
  Duration stop_grace = std::chrono::seconds(30);
  // Number of the first incarnation; each later attempt and each rejoin adds 1.
  int first_incarnation = 1;
  // Sources of preemption notices besides the host's. The launcher watches them
  // while no worker runs; running workers watch them themselves.
  PreemptionOptions notices;
  // The checkpoint directory, locked while the job runs; empty: none.
  std::string checkpoint_directory;
};

// Options of a run: those of its workers, and those of their launcher.
struct LaunchOptions {
  TrainOptions train;
  LauncherOptions launcher;
};

// Sets the options of the launcher that follow from those of the workers: time
// limits, notices, checkpoint directory. Also sets the workers' response to a
// loss from the restart policy.
void SetDerived(TrainOptions& train, LauncherOptions& launcher);

// Encode and decode the options as one line of JSON, for `gauntlet launch`. The
// text omits `without_restarts` and the options that SetDerived sets.
// LaunchOptionsFromJson calls SetDerived. Errors name the key, the expected and
// the found value.
std::string LaunchOptionsToJson(const LaunchOptions& options);
Result<LaunchOptions> LaunchOptionsFromJson(std::string_view json);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_LAUNCHER_OPTIONS_H_
