// `gauntlet worker`: one worker process, as its launcher started it.
#ifndef GAUNTLET_HARNESS_CLI_CLUSTER_WORKER_COMMAND_H_
#define GAUNTLET_HARNESS_CLI_CLUSTER_WORKER_COMMAND_H_

#include "harness/cli/flags/commands.h"
#include "harness/cli/terminal/console.h"

namespace gauntlet {

// Returns the exit code if the worker could not begin; ends the process
// otherwise.
int RunWorkerProcess(const WorkerCommand& command, Console& console);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_CLUSTER_WORKER_COMMAND_H_
