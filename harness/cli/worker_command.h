// `gauntlet worker`: one worker process, as its launcher started it.
#ifndef GAUNTLET_HARNESS_CLI_WORKER_COMMAND_H_
#define GAUNTLET_HARNESS_CLI_WORKER_COMMAND_H_

#include <string>

#include "harness/cli/commands.h"
#include "harness/cli/console.h"

namespace gauntlet {

// Where the faults of a plan file note that they fired: a directory beside it,
// shared by all processes of the run.
std::string FiredDirectory(const std::string& plan_file);

// Returns the exit code if the worker could not begin; ends the process
// otherwise.
int RunWorkerProcess(const WorkerCommand& command, Console& console);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_WORKER_COMMAND_H_
