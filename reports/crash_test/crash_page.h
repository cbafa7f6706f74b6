// report.html of a crash test.
#ifndef GAUNTLET_REPORTS_CRASH_TEST_CRASH_PAGE_H_
#define GAUNTLET_REPORTS_CRASH_TEST_CRASH_PAGE_H_

#include <cstddef>
#include <string>

#include "harness/trainer/verdict/crash_test_result.h"

namespace gauntlet {

// Maximum number of rows in the table of crashes, those with a finding first.
// The page states how many are left out.
inline constexpr size_t kMostCrashRows = 2000;

// Returns one self-contained file: verdicts, findings, a strip of all crashes,
// and a table of crashes.
std::string RenderCrashPage(const CrashTestResult& result);

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_CRASH_TEST_CRASH_PAGE_H_
