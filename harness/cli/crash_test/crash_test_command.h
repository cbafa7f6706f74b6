#ifndef GAUNTLET_HARNESS_CLI_CRASH_TEST_CRASH_TEST_COMMAND_H_
#define GAUNTLET_HARNESS_CLI_CRASH_TEST_CRASH_TEST_COMMAND_H_

#include "engine/cli/exit_code.h"
#include "engine/cli/terminal/console.h"
#include "harness/cli/flags/commands.h"
#include "harness/trainer/verdict/crash_test_result.h"

namespace gauntlet {

// Crash-tests a training program and prints the findings. Returns the exit
// code.
int RunCrashTest(const CrashTestCommand& command, Console& console);

// Returns the exit code for the result. If several apply, returns the first of
// them in the order of `gauntlet help exit-codes`.
ExitCode CrashTestExit(const CrashTestResult& result);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_CRASH_TEST_CRASH_TEST_COMMAND_H_
