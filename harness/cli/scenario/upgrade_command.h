// `gauntlet upgrade`: rewrites a scenario file of gauntlet/v1 as gauntlet/v2.
#ifndef GAUNTLET_HARNESS_CLI_SCENARIO_UPGRADE_COMMAND_H_
#define GAUNTLET_HARNESS_CLI_SCENARIO_UPGRADE_COMMAND_H_

#include "engine/cli/terminal/console.h"
#include "engine/world/storage.h"
#include "harness/cli/flags/commands.h"

namespace gauntlet {

// Prints the upgraded file; prints a gauntlet/v2 file as it is. Returns the
// exit code: 2 if the file cannot be read or upgraded.
int RunUpgrade(const UpgradeCommand& command, Storage& storage,
               Console& console);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_SCENARIO_UPGRADE_COMMAND_H_
