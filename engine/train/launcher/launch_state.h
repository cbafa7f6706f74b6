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
                         .per_attempt = options.workers_per_attempt}};
  RestartBudget budget{options};
  // One token for all attempts: stale workers are fenced by generations, not by
  // tokens.
  const JobToken token = JobToken::Make(world.entropy);
  int incarnation = options.first_incarnation - 1;  // number of the newest one
  LaunchHold launch_hold;
  bool stop_requested = false;
  bool interrupted_twice = false;
  // First step at which loss or state was not finite, as workers reported.
  std::optional<uint64_t> not_finite_since;
  std::string give_up_reason;  // "": another restart is allowed

  // Counts a restart of the whole job or of lost workers. Returns false if the
  // restart is not allowed.
  bool CountRestart(const std::string& reason);
  // Worker that caused the last loss, if known.
  std::optional<int> culprit;
  // Sets not_finite_since to the earliest step reported so far. Returns true on
  // the first call.
  bool NoteNotFinite(uint64_t since);
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_LAUNCHER_LAUNCH_STATE_H_
