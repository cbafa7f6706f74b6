// `gauntlet help`, for a command or a topic.
#ifndef GAUNTLET_HARNESS_CLI_HELP_COMMAND_H_
#define GAUNTLET_HARNESS_CLI_HELP_COMMAND_H_

#include <string>

#include "engine/cli/terminal/console.h"
#include "harness/cli/flags/commands.h"

namespace gauntlet {

// Returns the exit code.
int RunHelp(const HelpCommand& command, Console& console);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_HELP_COMMAND_H_
