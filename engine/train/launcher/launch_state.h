// State that a launch keeps from one attempt at its job to the next.
#ifndef GAUNTLET_ENGINE_TRAIN_LAUNCHER_LAUNCH_STATE_H_
#define GAUNTLET_ENGINE_TRAIN_LAUNCHER_LAUNCH_STATE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "engine/ckpt/checkpoint_store.h"
#include "engine/train/launcher/launcher.h"
#include "engine/train/launcher/membership.h"
#include "engine/train/launcher/restart_budget.h"
#include "engine/train/worker_processes.h"
#include "engine/world/world.h"

namespace gauntlet {

struct LaunchState {
  World& world;
  WorkerProcesses& processes;
  const LauncherOptions& options;
  LaunchObserver& observer;

  Membership membership{{.workers = options.workers,
                         .min_workers = options.min_workers,
                         .by_life = options.workers_by_life}};
  RestartBudget budget{options};
  // The same for all attempts: generations fence stale workers, not tokens.
  const JobToken token = JobToken::Make(world.entropy);
  int life = options.first_life - 1;  // the newest that was started
  LaunchHold launch_hold;
  bool told_to_stop = false;
  bool interrupted_twice = false;
  // The first step at which loss or state was not finite, as workers said.
  std::optional<uint64_t> not_finite_since;
  std::string why_give_up;  // "" while another restart may be

  // Counts a restart of the whole job, or of workers that rejoin. Returns false
  // if it is not allowed.
  bool CountRestart(const std::string& reason);
  // Worker to blame for the last loss, if any.
  std::optional<int> blamed;
  // Notes that step. Returns false if it was known, and reported.
  bool NoteNotFinite(uint64_t since);
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_LAUNCHER_LAUNCH_STATE_H_
