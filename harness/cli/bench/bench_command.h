// `gauntlet bench checkpoint`.
#ifndef GAUNTLET_HARNESS_CLI_BENCH_BENCH_COMMAND_H_
#define GAUNTLET_HARNESS_CLI_BENCH_BENCH_COMMAND_H_

#include "engine/cli/terminal/console.h"
#include "harness/cli/flags/commands.h"

namespace gauntlet {

// Returns the exit code.
int RunBenchCheckpoint(const BenchCheckpointCommand& command, Console& console);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_BENCH_BENCH_COMMAND_H_
