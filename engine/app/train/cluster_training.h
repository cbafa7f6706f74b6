// `gauntlet train` as configured by its flags and the environment.
#ifndef GAUNTLET_ENGINE_APP_TRAIN_CLUSTER_TRAINING_H_
#define GAUNTLET_ENGINE_APP_TRAIN_CLUSTER_TRAINING_H_

#include "engine/app/commands.h"
#include "engine/app/train_hooks.h"
#include "engine/cli/terminal/console.h"

namespace gauntlet {

// Resolves the cluster from the command and the environment, and runs this
// process in its role there:
//
// - as a worker: ends the process with the worker's exit code
// - as the evaluator
// - as a launcher of its own workers, with --workers or if there is no cluster
//
// With TrainTask::kPrintCluster, only prints the resolved cluster. Returns the
// exit code, translated by the command's `requeue`. Must be called from the
// main thread before any other thread starts.
int TrainByEnvironment(const TrainCommand& command, const TrainHooks& hooks,
                       Console& console);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_APP_TRAIN_CLUSTER_TRAINING_H_
