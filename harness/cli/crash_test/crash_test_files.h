// Writes the files that a crash test leaves in its folder, and runs a crash
// test as a case.
#ifndef GAUNTLET_HARNESS_CLI_CRASH_TEST_CRASH_TEST_FILES_H_
#define GAUNTLET_HARNESS_CLI_CRASH_TEST_CRASH_TEST_FILES_H_

#include <filesystem>

#include "engine/status.h"
#include "harness/run/case_runner.h"
#include "harness/scenario/scenario.h"
#include "harness/trainer/verdict/crash_test_result.h"

namespace gauntlet {

// Writes result.json, report.html and junit.xml. Errors: those of the disk.
Status WriteCrashTestFiles(const CrashTestResult& result,
                           const std::filesystem::path& folder);

// Runs the case's trainer and judges the outcome. Writes the case as
// scenario.yaml into its directory, and the report and the findings into the
// folder crash-test in the same directory.
CaseOutcome RunTrainerCase(const Case& one, const CasePlace& place);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_CRASH_TEST_CRASH_TEST_FILES_H_
