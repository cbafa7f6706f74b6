// `gauntlet worker`: one worker process, started by a launcher.
#ifndef GAUNTLET_ENGINE_APP_CLUSTER_WORKER_COMMAND_H_
#define GAUNTLET_ENGINE_APP_CLUSTER_WORKER_COMMAND_H_

#include "engine/app/commands.h"
#include "engine/app/train_hooks.h"
#include "engine/cli/terminal/console.h"

namespace gauntlet {

// Runs the worker, and ends the process. Returns the exit code only if the
// worker could not start.
int RunWorkerProcess(const WorkerCommand& command, const TrainHooks& hooks,
                     Console& console);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_APP_CLUSTER_WORKER_COMMAND_H_
