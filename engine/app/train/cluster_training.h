// `gauntlet train` as configured by its flags and the environment.
#ifndef GAUNTLET_ENGINE_APP_TRAIN_CLUSTER_TRAINING_H_
#define GAUNTLET_ENGINE_APP_TRAIN_CLUSTER_TRAINING_H_

#include "engine/app/commands.h"
#include "engine/app/train_hooks.h"
#include "engine/cli/terminal/console.h"

namespace gauntlet {

// Runs as one worker of the cluster whose launcher started this process, and
// then ends the process with the worker's exit code; or runs as the cluster's
// evaluator; or trains with workers of its own. With TrainTask::kPrintCluster,
// only prints the resolved cluster. Must be called from the main thread before
// any other thread starts. Returns the exit code.
int TrainInCluster(const TrainCommand& command, const TrainHooks& hooks,
                   Console& console);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_APP_TRAIN_CLUSTER_TRAINING_H_
