// Words for the outcomes of cases, shared by progress output, summary and page.
#ifndef GAUNTLET_REPORTS_CASE_WORDS_H_
#define GAUNTLET_REPORTS_CASE_WORDS_H_

#include <string>
#include <string_view>

#include "harness/record/result/result.h"

namespace gauntlet {

// Returns "passed", "failed", "inconclusive", "skipped" or "not run".
std::string_view VerdictWord(VerdictKind kind);
// Returns VerdictWord of the case's verdict, or "flaky".
std::string_view CaseWord(const CaseResult& one);
// Returns the heading of the case: "PASS", "FAIL", "INCONCLUSIVE", "SKIP", "NOT
// RUN" or "FLAKY".
std::string_view CaseHeading(const CaseResult& one);

// Returns "2 faults, 1 restart, resumed from step 5, 11 steps recomputed, 1
// failed save, refused to train"; without the parts that do not apply.
std::string FactsText(const RunFacts& facts);

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_CASE_WORDS_H_
