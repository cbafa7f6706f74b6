// A picture of all crashes of a test: a row for each fault, from the first
// operation of the recording to the last, and a mark for each operation at
// which crashes were tried.
#ifndef GAUNTLET_REPORTS_CRASH_TEST_CRASH_STRIP_H_
#define GAUNTLET_REPORTS_CRASH_TEST_CRASH_STRIP_H_

#include <string>
#include <string_view>

#include "harness/trainer/verdict/crash_test_result.h"

namespace gauntlet {

// Returns a CSS class of the page: "failed", "passed", "inconclusive" or
// "skipped".
std::string_view CssClassOf(RecoveryVerdict verdict);

// Returns an <svg> element; "" without crashes. A mark is divided among the
// verdicts of its crashes in proportion; findings are drawn higher than the
// rest.
std::string RenderCrashStrip(const CrashTestResult& result);

extern const std::string_view kCrashStripStyle;

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_CRASH_TEST_CRASH_STRIP_H_
