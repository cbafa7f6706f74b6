// Words for how cases ended: the same while they run, in the summary and in the
// page.
#ifndef GAUNTLET_REPORTS_CASE_WORDS_H_
#define GAUNTLET_REPORTS_CASE_WORDS_H_

#include <string>
#include <string_view>

#include "harness/record/result/result.h"

namespace gauntlet {

// "passed", "failed", "inconclusive", "skipped", "not run".
std::string_view VerdictWord(VerdictKind kind);
// Returns the word of its verdict, or "flaky".
std::string_view CaseWord(const CaseResult& one);
// Returns the heading of the case: "PASS", "FAIL", "INCONCLUSIVE", "SKIP", "NOT
// RUN", "FLAKY".
std::string_view CaseHeading(const CaseResult& one);

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_CASE_WORDS_H_
