// The faults of `gauntlet train` in a worker's process: those of the plan
// (--plan), and those that a person switches on with fiu-run or fiu-ctrl.
#ifndef GAUNTLET_HARNESS_CLI_HOOKS_WORKER_FAULTS_H_
#define GAUNTLET_HARNESS_CLI_HOOKS_WORKER_FAULTS_H_

#include <memory>

#include "engine/app/train_hooks.h"

namespace gauntlet {

// Reads the plan, if there is one, and creates the directory that records which
// faults fired. Returns null if there is no plan and fiu-run did not start this
// process. The result must not outlive the target's world and events.
Result<std::unique_ptr<WorkerFaults>> ReadWorkerFaults(
    const WorkerFaultsTarget& target);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_HOOKS_WORKER_FAULTS_H_
