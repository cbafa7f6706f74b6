// `gauntlet run`: scenarios in, verdicts out.
#ifndef GAUNTLET_HARNESS_CLI_RUN_RUN_COMMAND_H_
#define GAUNTLET_HARNESS_CLI_RUN_RUN_COMMAND_H_

#include "harness/cli/flags/commands.h"
#include "harness/cli/terminal/console.h"

namespace gauntlet {

// Loads and selects cases, runs each in the worlds that were asked for, and
// leaves result.json, junit.xml and a folder for each case in a folder of its
// own below command.runs_directory, which `latest` there links to. Nothing runs
// if any file has an error. Returns the exit code.
int RunScenarios(const RunCommand& command, Console& console);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_RUN_RUN_COMMAND_H_
