#ifndef GAUNTLET_REPORTS_CRASH_TEST_CRASH_JUNIT_H_
#define GAUNTLET_REPORTS_CRASH_TEST_CRASH_JUNIT_H_

#include <string>

#include "harness/trainer/verdict/crash_test_result.h"

namespace gauntlet {

// Returns the crashes as JUnit XML, in the subset of reports/junit.h, with a
// test for each crash. Without verdicts, there is one test, with an error.
std::string RenderCrashJunit(const CrashTestResult& result);

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_CRASH_TEST_CRASH_JUNIT_H_
