// `gauntlet judge`: judges stored records again.
#ifndef GAUNTLET_HARNESS_CLI_RECORD_JUDGE_COMMAND_H_
#define GAUNTLET_HARNESS_CLI_RECORD_JUDGE_COMMAND_H_

#include "engine/cli/terminal/console.h"
#include "harness/cli/flags/commands.h"

namespace gauntlet {

// Prints the verdict and the cause of each record as `gauntlet run` does. The
// verdict depends on the record alone. To find the cause of a failure, the case
// is run again in the simulation. A case without a record is "not run" if its
// run is unfinished. Prints a line for each file that is not a record of this
// version. Returns 2 if there is such a file; 4 if a path does not exist or
// holds no record; else the exit code of `gauntlet run` for these verdicts.
int RunJudge(const JudgeCommand& command, Console& console);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_RECORD_JUDGE_COMMAND_H_
