// A case made concrete: what an executor of either world runs.
#ifndef GAUNTLET_HARNESS_RUN_EXECUTOR_RUN_PLAN_H_
#define GAUNTLET_HARNESS_RUN_EXECUTOR_RUN_PLAN_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "chaos/inject/injector.h"
#include "chaos/inject/plan/plan.h"
#include "chaos/sim/disk/sim_disk.h"
#include "engine/train/launcher/launcher.h"
#include "engine/train/options.h"
#include "harness/scenario/scenario.h"

namespace gauntlet {

// Undisturbed run before the judged run, in the same world. The judged run
// starts from the model that it exports.
struct EarlierRun {
  TrainOptions train;
  int workers = 1;
};

// The reason for which a run that was cut off has no verdict.
inline constexpr std::string_view kWasInterrupted =
    "interrupted before it was over";

// Options for one start of the launcher.
struct LaunchPlan {
  TrainOptions train;
  bool other_job = false;  // differs from the plan's job: expects a refusal
};

struct RunPlan {
  // checkpoint.directory, summary.directory, export_directory,
  // preemption.file, preemption.url, start.weights and the export before are
  // left to the executor where they are not empty: each run has its own.
  TrainOptions train;
  std::optional<EarlierRun> before;
  // Options for each start of the launcher in place of `train`; the last one
  // counts for all later starts. Empty: `train`. The reference run uses
  // `train`.
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
  // Returns true once the run is to be cut off without a verdict, and from then
  // on. Empty: never.
  std::function<bool()> interrupted;
  // Called before each hit of a fault point, by the worker that reaches it; in
  // the simulated world only. Empty: no calls.
  std::function<void(const ProcessIdentity&, Point, const PointContext&)>
      on_hit;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_EXECUTOR_RUN_PLAN_H_
