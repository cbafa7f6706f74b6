// `gauntlet explore --mode crash-states`: every disk that a power cut in a save
// or in a recovery can leave.
#ifndef GAUNTLET_HARNESS_CLI_CRASH_STATES_COMMAND_H_
#define GAUNTLET_HARNESS_CLI_CRASH_STATES_COMMAND_H_

#include "harness/cli/commands.h"
#include "harness/cli/console.h"
#include "harness/scenario/scenario.h"

namespace gauntlet {

// REQUIRES: InstallSignalHandlers was called. Returns the exit code.
int ExploreCrashStatesOf(const Case& base, const ExploreCommand& command,
                         Console& console);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_CRASH_STATES_COMMAND_H_
