#ifndef GAUNTLET_HARNESS_CLI_CRASH_TEST_CRASH_TEST_TEXT_H_
#define GAUNTLET_HARNESS_CLI_CRASH_TEST_CRASH_TEST_TEXT_H_

#include <filesystem>
#include <string>
#include <string_view>

#include "harness/trainer/verdict/crash_test_result.h"

namespace gauntlet {

// Returns the result as text for a terminal. `folder`: folder of the test.
std::string CrashTestResultToText(const CrashTestResult& result,
                                  const std::filesystem::path& folder);

// Returns the message of a test that was interrupted before its first trial.
// `stage`: as in CrashTestProgress::OnStage.
std::string InterruptBeforeTrialsText(std::string_view stage);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_CRASH_TEST_CRASH_TEST_TEXT_H_
