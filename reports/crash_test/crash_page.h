// report.html of a crash test.
#ifndef GAUNTLET_REPORTS_CRASH_TEST_CRASH_PAGE_H_
#define GAUNTLET_REPORTS_CRASH_TEST_CRASH_PAGE_H_

#include <cstddef>
#include <string>

#include "harness/trainer/verdict/crash_test_result.h"

namespace gauntlet {

// Rows of the table of crashes; the page says how many are left out. Those with
// a finding come first.
inline constexpr size_t kMostCrashRows = 2000;

// One self-contained file: verdicts, findings, a strip of all crashes, and a
// table of them.
std::string RenderCrashPage(const CrashTestResult& result);

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_CRASH_TEST_CRASH_PAGE_H_
