#ifndef GAUNTLET_HARNESS_CLI_CRASH_TEST_CRASH_TEST_COMMAND_H_
#define GAUNTLET_HARNESS_CLI_CRASH_TEST_CRASH_TEST_COMMAND_H_

#include "engine/cli/terminal/console.h"
#include "harness/cli/flags/commands.h"

namespace gauntlet {

// Crash-tests a training program and prints the findings. Returns the exit
// code.
int RunCrashTest(const CrashTestCommand& command, Console& console);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_CRASH_TEST_CRASH_TEST_COMMAND_H_
