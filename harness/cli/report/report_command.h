// `gauntlet report`: renders, lists, merges and compares results of runs.
#ifndef GAUNTLET_HARNESS_CLI_REPORT_REPORT_COMMAND_H_
#define GAUNTLET_HARNESS_CLI_REPORT_REPORT_COMMAND_H_

#include "engine/cli/terminal/console.h"
#include "harness/cli/flags/commands.h"

namespace gauntlet {

// Returns 2 if a result cannot be read or an output cannot be written. Else
// returns, for kRender and kMerge, the exit code of the verdicts (ExitCodeOf);
// for kCompare, 1 if a case fails that did not fail before, else 0; for kList,
// 0.
int RunReport(const ReportCommand& command, Console& console);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_REPORT_REPORT_COMMAND_H_
