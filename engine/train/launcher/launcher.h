// Starts the workers of a job on one machine, and restarts them after a loss.
// The policy is the same in every world.
#ifndef GAUNTLET_ENGINE_TRAIN_LAUNCHER_LAUNCHER_H_
#define GAUNTLET_ENGINE_TRAIN_LAUNCHER_LAUNCHER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/status.h"
#include "engine/train/launcher_options.h"
#include "engine/train/worker_processes.h"
#include "engine/world/world.h"

namespace gauntlet {

// If a launcher is killed, its workers exit within this time. The next launcher
// waits this long for the lock that they hold.
inline constexpr Duration kOrphanExitTimeout = std::chrono::seconds(5);

// Maximum number of worker processes that one launcher starts on its machine.
inline constexpr int kMaxLocalWorkers = 256;

struct LaunchEnd {
  int exit_code = 0;  // of the program: see `gauntlet help exit-codes`
  std::optional<TrainResult> result;
  int restarts = 0;
  std::string reason;  // empty: `result` explains the exit code
};

class LaunchObserver {
 public:
  virtual ~LaunchObserver() = default;
  virtual void Progress(const WorkerProgress& progress) = 0;
  // Called after a loss, before the pause and the restart.
  virtual void Restarting(int restart, const std::string& reason,
                          Duration pause) = 0;
};

// Runs a job to its end. Workers detect the loss of each other; the launcher
// itself watches only the chief, from its start on. Each report of the chief
// states how long the next one may take: the limit of the part that begins (a
// step, a save) plus lost_after, so that the workers detect a hang before the
// launcher does. If a report is overdue, all workers are killed and restarted.
//
// Returns when
// - the job is done;
// - world.host has a preemption notice. The launcher passes the first notice on
//   to the workers, which save and exit. Repeated notices change nothing,
//   except that a second interrupt at the terminal kills the workers (exit code
//   130);
// - a worker exits for a reason that a restart cannot fix;
// - the restarts are used up.
// A worker that fails repeatedly is excluded if the remaining workers are
// enough (Membership); otherwise the job ends. No worker is running when this
// returns.
LaunchEnd Launch(World& world, WorkerProcesses& processes,
                 const LauncherOptions& options, LaunchObserver& observer);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_LAUNCHER_LAUNCHER_H_
