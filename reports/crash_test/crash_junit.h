#ifndef GAUNTLET_REPORTS_CRASH_TEST_CRASH_JUNIT_H_
#define GAUNTLET_REPORTS_CRASH_TEST_CRASH_JUNIT_H_

#include <string>

#include "harness/trainer/verdict/crash_test_result.h"

namespace gauntlet {

// The crashes of a test as JUnit XML, in the subset of reports/junit.h: a test
// for each. Without verdicts there is one test, with an error.
std::string RenderCrashJunit(const CrashTestResult& result);

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_CRASH_TEST_CRASH_JUNIT_H_
