// `gauntlet replay`: makes a run again and holds it against the record.
#ifndef GAUNTLET_HARNESS_CLI_RECORD_REPLAY_COMMAND_H_
#define GAUNTLET_HARNESS_CLI_RECORD_REPLAY_COMMAND_H_

#include "harness/cli/flags/commands.h"
#include "harness/cli/terminal/console.h"

namespace gauntlet {

// Returns the exit code: 0 all reproduced, 3 one went another way or could not
// be run, 2 there is no such run or its files make no sense.
int RunReplay(const ReplayCommand& command, Console& console);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_RECORD_REPLAY_COMMAND_H_
