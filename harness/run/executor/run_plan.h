// A resolved case: the input of an executor of either world.
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
#include "engine/train/launcher_options.h"
#include "engine/train/options.h"
#include "harness/scenario/scenario.h"

namespace gauntlet {

// Undisturbed run before the judged run, in the same world. The judged run
// starts from the model that the earlier run exports.
struct EarlierRun {
  TrainOptions train;
  int workers = 1;
};

// Reason why an interrupted run has no verdict.
inline constexpr std::string_view kWasInterrupted =
    "interrupted before it was over";

// Options for one start of the launcher.
struct LaunchPlan {
  TrainOptions train;
  bool other_job = false;  // differs from the plan's job: expects a refusal
};

struct RunPlan {
  // The executor replaces these if they are not empty, as each run has its own:
  // checkpoint.directory, summary.directory, export_directory, preemption.file,
  // preemption.url, start.weights and the export of `before`.
  TrainOptions train;
  std::optional<EarlierRun> before;
  // Options for each start of the launcher in place of `train`. The last one is
  // used for all later starts. Empty: every start uses `train`. The reference
  // run always does.
  std::vector<LaunchPlan> launches;
  LauncherOptions launch;
  FaultPlan faults;
  // In the simulated world only; real processes are on one machine.
  HostsChoice hosts = HostsChoice::kOne;
  NetworkLatency link;    // of the simulated world
  Duration step_time{0};  // simulated time that a worker computes in a step
  DiskOptions disk;       // of the simulated world
  // Number of times that a job that stopped on a notice is started again, as a
  // queue would.
  int max_requeues = 8;
  // Record RunLog::traffic; in the simulated world only.
  bool counts_messages = false;
  Duration hang_limit = std::chrono::seconds(15);  // without any event
  Duration total_limit = std::chrono::seconds(120);
  // Returns true once the run must be aborted, without a verdict, and stays
  // true. Empty: never.
  std::function<bool()> interrupted;
  // Called before each occurrence of a fault point, by the worker that reaches
  // it; in the simulated world only. Empty: not called.
  std::function<void(const ProcessIdentity&, Point, const PointContext&)>
      on_hit;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_EXECUTOR_RUN_PLAN_H_
