// Runs a plan in the simulated world: launcher, workers, disk and network in
// one thread, by one seed.
#ifndef GAUNTLET_HARNESS_RUN_EXECUTOR_SIM_RUN_H_
#define GAUNTLET_HARNESS_RUN_EXECUTOR_SIM_RUN_H_

#include <functional>
#include <string>

#include "chaos/sim/scheduler/fiber.h"
#include "engine/data/dataset.h"
#include "engine/model/step_probe.h"
#include "engine/train/loop/train_memo.h"
#include "harness/run/executor/run_log.h"
#include "harness/run/executor/run_plan.h"

namespace gauntlet {

// Results that are computed once for all runs of one job on the same data.
struct RunMemo {
  RunMemo(const JobSpec& job, const DataSplit& data);

  std::string job_json;
  TrainMemo passes;
};

// Starts the launcher, and starts it again as LaunchSequence decides, until no
// launch is due or a limit of the plan is reached. Equal plans give equal logs.
// The plan's checkpoint directory is a path on the simulated disk. The run does
// not compute forward and backward passes whose results the memo has. REQUIRES:
// the memo is of the plan's job and of the data.
RunLog RunSimulated(FiberPool& pool, const RunPlan& plan, const DataSplit& data,
                    RunMemo* memo = nullptr);

// Returns the probe that observes the steps of this incarnation; null: none
// does. The probe must outlive the run.
using ProbeOf = std::function<StepProbe*(int worker, int incarnation)>;

// As RunSimulated, but with probes.
RunLog RunProbed(FiberPool& pool, const RunPlan& plan, const DataSplit& data,
                 const ProbeOf& probe_of);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_EXECUTOR_SIM_RUN_H_
