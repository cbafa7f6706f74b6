// `gauntlet replay`: repeats a run and compares it with its record.
#ifndef GAUNTLET_HARNESS_CLI_RECORD_REPLAY_COMMAND_H_
#define GAUNTLET_HARNESS_CLI_RECORD_REPLAY_COMMAND_H_

#include "engine/cli/terminal/console.h"
#include "harness/cli/flags/commands.h"

namespace gauntlet {

// Returns the exit code: 0 if every run was reproduced, 3 if one differs or
// could not be run, 2 if there is no such run or its files are invalid.
int RunReplay(const ReplayCommand& command, Console& console);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_RECORD_REPLAY_COMMAND_H_
