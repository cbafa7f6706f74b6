// Runs a plan in the simulated world: launcher, workers, disk and network in
// one thread, by one seed.
#ifndef GAUNTLET_HARNESS_RUN_SIM_RUN_H_
#define GAUNTLET_HARNESS_RUN_SIM_RUN_H_

#include <functional>
#include <string>

#include "chaos/sim/fiber.h"
#include "engine/data/dataset.h"
#include "engine/model/step_probe.h"
#include "engine/train/train_memo.h"
#include "harness/run/run_log.h"
#include "harness/run/run_plan.h"

namespace gauntlet {

// What runs of one job on the same data need work out only once.
struct RunMemo {
  RunMemo(const JobSpec& job, const DataSplit& data);

  std::string job_json;
  TrainMemo passes;
};

// Starts the launcher, again where the job stopped on a notice or the launcher
// itself was lost, until it ends otherwise. Equal plans give equal logs. The
// plan's checkpoint directory is a path of the simulated disk.
// With a memo, which is of the plan's job and the data, passes that it knows
// are not computed again.
RunLog RunSimulated(FiberPool& pool, const RunPlan& plan, const DataSplit& data,
                    RunMemo* memo = nullptr);

// What is to look into the steps of a worker's life; it lives as long as the
// run. Null: nothing.
using ProbeOf = std::function<StepProbe*(int worker, int life)>;

// The same run, looked into.
RunLog RunProbed(FiberPool& pool, const RunPlan& plan, const DataSplit& data,
                 const ProbeOf& probe_of);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_SIM_RUN_H_
