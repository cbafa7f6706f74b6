// gauntlet bench
#ifndef GAUNTLET_HARNESS_CLI_BENCH_BENCH_COMMAND_H_
#define GAUNTLET_HARNESS_CLI_BENCH_BENCH_COMMAND_H_

#include "harness/cli/flags/commands.h"
#include "harness/cli/terminal/console.h"

namespace gauntlet {

// Returns the exit code.
int RunBenchCheckpoint(const BenchCheckpointCommand& command, Console& console);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_BENCH_BENCH_COMMAND_H_
