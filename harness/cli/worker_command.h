// `gauntlet worker`: one worker process, as its launcher started it.
#ifndef GAUNTLET_HARNESS_CLI_WORKER_COMMAND_H_
#define GAUNTLET_HARNESS_CLI_WORKER_COMMAND_H_

#include "harness/cli/commands.h"
#include "harness/cli/console.h"

namespace gauntlet {

// Returns the exit code if the worker could not begin; ends the process
// otherwise.
int RunWorkerProcess(const WorkerCommand& command, Console& console);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_WORKER_COMMAND_H_
