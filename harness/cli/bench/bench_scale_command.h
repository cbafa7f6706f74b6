// `gauntlet bench scale`.
#ifndef GAUNTLET_HARNESS_CLI_BENCH_BENCH_SCALE_COMMAND_H_
#define GAUNTLET_HARNESS_CLI_BENCH_BENCH_SCALE_COMMAND_H_

#include "engine/cli/terminal/console.h"
#include "harness/cli/flags/commands.h"

namespace gauntlet {

// Returns the exit code of the process.
int RunBenchScale(const BenchScaleCommand& command, Console& console);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_BENCH_BENCH_SCALE_COMMAND_H_
