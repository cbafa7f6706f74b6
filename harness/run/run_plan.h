// A case made concrete: what an executor of either world runs.
#ifndef GAUNTLET_HARNESS_RUN_RUN_PLAN_H_
#define GAUNTLET_HARNESS_RUN_RUN_PLAN_H_

#include <cstdint>
#include <string>

#include "chaos/inject/plan.h"
#include "chaos/sim/sim_disk.h"
#include "engine/train/launcher.h"
#include "engine/train/options.h"
#include "harness/scenario/scenario.h"

namespace gauntlet {

struct RunPlan {
  // checkpoint.directory, preemption.file and preemption.url are left to the
  // executor where they are not empty: each run has its own.
  TrainOptions train;
  LauncherOptions launch;
  FaultPlan faults;
  // In the simulated world only; real processes are on one machine.
  HostsChoice hosts = HostsChoice::kOne;
  DiskOptions disk;  // of the simulated world
  // How often a job that stopped on a notice is started again, as a queue
  // would.
  int max_requeues = 8;
  Duration hang_limit = std::chrono::seconds(15);  // without any event
  Duration total_limit = std::chrono::seconds(120);
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_RUN_PLAN_H_
