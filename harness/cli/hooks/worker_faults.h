// The fault plan of `gauntlet train --plan`, in a worker's process.
#ifndef GAUNTLET_HARNESS_CLI_HOOKS_WORKER_FAULTS_H_
#define GAUNTLET_HARNESS_CLI_HOOKS_WORKER_FAULTS_H_

#include <memory>

#include "engine/app/train_hooks.h"

namespace gauntlet {

// Reads the plan and creates the directory for fired faults. The result must
// not outlive the target's world and events.
Result<std::unique_ptr<WorkerFaults>> ReadWorkerFaults(
    const WorkerFaultsTarget& target);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_HOOKS_WORKER_FAULTS_H_
