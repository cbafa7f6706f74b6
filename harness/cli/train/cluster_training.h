// `gauntlet train` where its flags and the environment say that it runs.
#ifndef GAUNTLET_HARNESS_CLI_TRAIN_CLUSTER_TRAINING_H_
#define GAUNTLET_HARNESS_CLI_TRAIN_CLUSTER_TRAINING_H_

#include "harness/cli/flags/commands.h"
#include "harness/cli/terminal/console.h"

namespace gauntlet {

// As one worker of the cluster whose launcher started this process, which then
// ends here with the worker's exit code, or as its evaluator; else with workers
// of its own. With TrainTask::kPrintCluster, says which it would be. To be
// called from the main thread, before there are others. Returns the exit code.
int TrainInCluster(const TrainCommand& command, Console& console);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_TRAIN_CLUSTER_TRAINING_H_
