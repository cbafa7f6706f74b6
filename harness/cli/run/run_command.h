// `gauntlet run`: runs scenarios and judges them.
#ifndef GAUNTLET_HARNESS_CLI_RUN_RUN_COMMAND_H_
#define GAUNTLET_HARNESS_CLI_RUN_RUN_COMMAND_H_

#include "engine/cli/terminal/console.h"
#include "harness/cli/flags/commands.h"

namespace gauntlet {

// Loads and selects cases, and runs each in the requested worlds. Leaves
// result.json, junit.xml and a folder for each case in a new folder below
// command.runs_directory; the link `latest` there names the new folder. Nothing
// runs if any file has an error. Returns the exit code.
int RunScenarios(const RunCommand& command, Console& console);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_RUN_RUN_COMMAND_H_
