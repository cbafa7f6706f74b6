// Runs a plan in the simulated world: launcher, workers, disk and network in
// one thread, by one seed.
#ifndef GAUNTLET_HARNESS_RUN_SIM_RUN_H_
#define GAUNTLET_HARNESS_RUN_SIM_RUN_H_

#include <cstdint>

#include "chaos/sim/fiber.h"
#include "engine/data/dataset.h"
#include "harness/run/run_log.h"
#include "harness/run/run_plan.h"

namespace gauntlet {

// Starts the launcher, again where the job stopped on a notice or the launcher
// itself was lost, until it ends otherwise. Equal plans give equal logs. The
// plan's checkpoint directory is a path of the simulated disk.
RunLog RunSimulated(FiberPool& pool, const RunPlan& plan,
                    const DataSplit& data);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_SIM_RUN_H_
