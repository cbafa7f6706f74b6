// Starts the workers of a job on one machine and starts them again when one is
// lost: the policy, the same in every world.
#ifndef GAUNTLET_ENGINE_TRAIN_LAUNCHER_LAUNCHER_H_
#define GAUNTLET_ENGINE_TRAIN_LAUNCHER_LAUNCHER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/status.h"
#include "engine/train/options.h"
#include "engine/train/worker_processes.h"
#include "engine/world/world.h"

namespace gauntlet {

// Workers of a launcher that was killed outlive it by at most this. The next
// launcher waits so long for the lock that they hold.
inline constexpr Duration kOrphansEndWithin = std::chrono::seconds(5);

struct LauncherOptions {
  int workers = 1;  // at most
  // See MembershipOptions.
  int min_workers = 0;
  std::vector<int> workers_by_life;
  RestartPolicy restart = RestartPolicy::kWholeJob;
  int max_restarts = 100;
  // How a loss ends that may not be followed by any restart: the job has
  // failed, unless somebody else may start it again.
  WorkerExit without_restarts = WorkerExit::kFailed;
  // Lives in a row that may come no further than earlier ones did.
  int max_fruitless = 10;
  // Pause before a restart. Doubles, up to the maximum, with each attempt that
  // ends sooner than the pause would and has brought no new step.
  Duration backoff = std::chrono::milliseconds(100);
  Duration max_backoff = std::chrono::seconds(10);
  // How long the survivors of a loss may take to notice it themselves before
  // they are killed.
  Duration survivors_grace = std::chrono::milliseconds(500);
  // The same where they are to rejoin: who is in the middle of a long step
  // keeps a state that nobody should have to train again (RegroupGraceOf). Who
  // is not heard to beat either has survivors_grace.
  Duration regroup_grace = std::chrono::milliseconds(500);
  // How long a chief may take from its start to its first sign, which comes
  // once it has read its data; from then on each sign says how long the next
  // may take.
  Duration start_timeout = std::chrono::minutes(10);
  // How long workers may take to save and leave after a notice.
  Duration stop_grace = std::chrono::seconds(30);
  int first_life = 1;  // of the workers; later attempts count on
  // Sources of notices beside the host's while no worker runs. A worker that
  // runs watches them itself.
  PreemptionOptions notices;
  // The checkpoint directory, locked while the job runs; empty: none.
  std::string checkpoint_directory;
};

struct LaunchEnd {
  int exit_code = 0;  // of the program: see `gauntlet help exit-codes`
  std::optional<TrainResult> result;
  int restarts = 0;
  std::string reason;  // why it is not a plain success
};

class LaunchObserver {
 public:
  virtual ~LaunchObserver() = default;
  virtual void Progress(const WorkerProgress& progress) = 0;
  // A loss, and the restart that follows after the pause.
  virtual void Restarting(int restart, const std::string& reason,
                          Duration pause) = 0;
};

// Workers notice among themselves that one of them is lost. Of the chief the
// launcher waits for signs itself, from its start on: where one is overdue, all
// are killed and started again. A sign says for how long the next may fail to
// come, by the limit of what begins then (a step, a save) and lost_after, in
// which the workers would notice it themselves.
//
// Ends when the job does, when it is told to stop (the notices of world.host,
// passed on to the workers: the first asks them to save and go, repeated ones
// change nothing, but a second interrupt, by a person at the terminal, kills
// them and is exit code 130), when a worker ends for a reason that a restart
// cannot mend, or when restarts are used up. A worker that fails again and
// again is done without where fewer are enough (Membership), and the end of the
// job otherwise. No worker is left in any case.
LaunchEnd Launch(World& world, WorkerProcesses& processes,
                 const LauncherOptions& options, LaunchObserver& observer);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_LAUNCHER_LAUNCHER_H_
