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

// A run before the judged run, without faults and in the same world. The judged
// run starts from the model that this run exports.
struct EarlierRun {
  TrainOptions train;
  int workers = 1;
};

// Reason why an interrupted run has no verdict.
inline constexpr std::string_view kWasInterrupted =
    "interrupted before it was over";

// Options for one planned launch.
struct LaunchPlan {
  TrainOptions train;
  bool other_job = false;  // the job differs from the plan's; must be refused
};

struct RunPlan {
  // The executor replaces these options if they are not empty, because each run
  // has its own directories and files: checkpoint.directory, summary.directory,
  // export_directory, preemption.file, preemption.url, start.weights and the
  // export of `before`.
  TrainOptions train;
  std::optional<EarlierRun> before;
  // The planned launches, in order: their options apply in place of `train`. A
  // repeated launch keeps its options. Empty: every start of the launcher uses
  // `train`. The reference run uses `train` in any case.
  std::vector<LaunchPlan> launches;
  LauncherOptions launch;
  FaultPlan faults;
  // For the simulated world; all real processes are on one machine.
  HostsChoice hosts = HostsChoice::kOne;
  NetworkLatency link;    // of the simulated world
  Duration step_time{0};  // simulated time that a worker computes in a step
  DiskOptions disk;       // of the simulated world
  // Maximum number of repetitions of all launches together. As a job queue
  // would do, the executor repeats a launch after some ends of its launcher
  // (LaunchSequence::StartNextLaunch).
  int max_requeues = 8;
  // True: the executor fills in RunLog::traffic; in the simulated world only.
  bool counts_messages = false;
  Duration hang_limit = std::chrono::seconds(15);  // longest time with no event
  Duration total_limit = std::chrono::seconds(120);
  // Returns true once the run has to be aborted, and from then on. An aborted
  // run has no verdict. Empty: the run is never aborted.
  std::function<bool()> interrupted;
  // Called by a worker each time that it reaches a fault point, before the
  // fault point has an effect. Simulated world only. Empty: nothing is called.
  std::function<void(const ProcessIdentity&, Point, const PointContext&)>
      on_hit;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_EXECUTOR_RUN_PLAN_H_
