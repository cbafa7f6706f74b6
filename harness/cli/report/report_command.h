// `gauntlet report`: renders, lists, merges and compares results of runs.
#ifndef GAUNTLET_HARNESS_CLI_REPORT_REPORT_COMMAND_H_
#define GAUNTLET_HARNESS_CLI_REPORT_REPORT_COMMAND_H_

#include "engine/cli/terminal/console.h"
#include "harness/cli/flags/commands.h"

namespace gauntlet {

// Returns the exit code of the verdicts (ExitCodeOf) for kRender and kMerge; 1
// for kCompare if a case fails that did not fail before, else 0; 0 for kList; 2
// if a result cannot be read or an output cannot be written.
int RunReport(const ReportCommand& command, Console& console);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_REPORT_REPORT_COMMAND_H_
