// The result that `gauntlet launch` prints.
#ifndef GAUNTLET_HARNESS_RUN_EXECUTOR_LAUNCHER_OUTPUT_H_
#define GAUNTLET_HARNESS_RUN_EXECUTOR_LAUNCHER_OUTPUT_H_

#include <string_view>

#include "engine/real/process/child_process.h"
#include "harness/record/record.h"

namespace gauntlet {

// Reads the result from the last JSON object that the launcher printed. If
// there is none, the LauncherRun has an exit code and no result.
LauncherRun ReadLauncherOutput(std::string_view printed, const ChildEnd& end);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_EXECUTOR_LAUNCHER_OUTPUT_H_
