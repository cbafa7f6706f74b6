// `gauntlet judge`: judges stored records again, without running anything.
#ifndef GAUNTLET_HARNESS_CLI_JUDGE_COMMAND_H_
#define GAUNTLET_HARNESS_CLI_JUDGE_COMMAND_H_

#include "harness/cli/commands.h"
#include "harness/cli/console.h"

namespace gauntlet {

// Prints the verdict of each record as `gauntlet run` does. Returns the exit
// code of `gauntlet run` for these verdicts; 2 for a file that is no record of
// this version, 4 if nothing of that name has one.
int RunJudge(const JudgeCommand& command, Console& console);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_JUDGE_COMMAND_H_
