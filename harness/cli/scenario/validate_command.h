#ifndef GAUNTLET_HARNESS_CLI_SCENARIO_VALIDATE_COMMAND_H_
#define GAUNTLET_HARNESS_CLI_SCENARIO_VALIDATE_COMMAND_H_

#include "engine/cli/terminal/console.h"
#include "harness/cli/flags/commands.h"

namespace gauntlet {

// Reads scenario files and the data that they name, and prints their mistakes
// without running them. Returns the exit code: 0, or 2 if there is a mistake.
int RunValidate(const ValidateCommand& command, Console& console);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_SCENARIO_VALIDATE_COMMAND_H_
