// `gauntlet explore`: searches for faults that break recovery.
#ifndef GAUNTLET_HARNESS_CLI_EXPLORE_EXPLORE_COMMAND_H_
#define GAUNTLET_HARNESS_CLI_EXPLORE_EXPLORE_COMMAND_H_

#include "engine/cli/terminal/console.h"
#include "harness/cli/flags/commands.h"

namespace gauntlet {

// Explores the base case in the simulated world until one of the command's
// limits is reached, and leaves the findings as scenario files. Returns the
// exit code.
int RunExplore(const ExploreCommand& command, Console& console);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_EXPLORE_EXPLORE_COMMAND_H_
