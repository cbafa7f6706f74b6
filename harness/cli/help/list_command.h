// `gauntlet list`.
#ifndef GAUNTLET_HARNESS_CLI_HELP_LIST_COMMAND_H_
#define GAUNTLET_HARNESS_CLI_HELP_LIST_COMMAND_H_

#include "engine/cli/terminal/console.h"
#include "engine/world/storage.h"
#include "harness/cli/flags/commands.h"

namespace gauntlet {

// Returns the exit code: 2 if a scenario has mistakes, which are printed; 4 if
// there are no scenarios.
int RunList(const ListCommand& command, Storage& storage, Console& console);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_HELP_LIST_COMMAND_H_
