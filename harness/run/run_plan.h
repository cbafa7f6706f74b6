// A case made concrete: what an executor of either world runs.
#ifndef GAUNTLET_HARNESS_RUN_RUN_PLAN_H_
#define GAUNTLET_HARNESS_RUN_RUN_PLAN_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "chaos/inject/injector.h"
#include "chaos/inject/plan.h"
#include "chaos/sim/sim_disk.h"
#include "engine/train/launcher.h"
#include "engine/train/options.h"
#include "harness/scenario/scenario.h"

namespace gauntlet {

// A run before the one that is looked at, in its world and undisturbed. What it
// exports is what that one begins with.
struct EarlierRun {
  TrainOptions train;
  int workers = 1;
};

// The reason for which a run that was cut off has no verdict.
inline constexpr std::string_view kWasInterrupted =
    "interrupted before it was over";

// What a start of the launcher is told.
struct LaunchPlan {
  TrainOptions train;
  bool other_job = false;  // than the plan's: to be refused
};

struct RunPlan {
  // checkpoint.directory, summary.directory, export_directory,
  // preemption.file, preemption.url, start.weights and the export before are
  // left to the executor where they are not empty: each run has its own.
  TrainOptions train;
  std::optional<EarlierRun> before;
  // What each start of the launcher is told in place of `train`; the last
  // counts for all later ones. Empty: `train`. The reference is of `train`.
  std::vector<LaunchPlan> launches;
  LauncherOptions launch;
  FaultPlan faults;
  // In the simulated world only; real processes are on one machine.
  HostsChoice hosts = HostsChoice::kOne;
  NetworkLatency link;    // of the simulated world
  Duration step_time{0};  // a worker computes so long in each step there
  DiskOptions disk;       // of the simulated world
  // How often a job that stopped on a notice is started again, as a queue
  // would.
  int max_requeues = 8;
  // Note RunLog::traffic; in the simulated world only.
  bool counts_messages = false;
  Duration hang_limit = std::chrono::seconds(15);  // without any event
  Duration total_limit = std::chrono::seconds(120);
  // Whether the run is cut off, with no verdict on it; once true, it stays so.
  // Empty: never.
  std::function<bool()> interrupted;
  // Called before each hit of a fault point, by the worker that reaches it; in
  // the simulated world only. Empty: no calls.
  std::function<void(const ProcessIdentity&, Point, const PointContext&)>
      on_hit;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_RUN_PLAN_H_
