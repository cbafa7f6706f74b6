// Words for how cases ended: the same while they run, in the summary and in the
// page.
#ifndef GAUNTLET_REPORTS_CASE_COUNTS_H_
#define GAUNTLET_REPORTS_CASE_COUNTS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "harness/record/result.h"

namespace gauntlet {

// "passed", "failed", "inconclusive", "skipped".
std::string_view VerdictWord(VerdictKind kind);
// That of its verdict, or "flaky".
std::string_view CaseWord(const CaseResult& one);
// The same as a heading: "PASS", "FAIL", "INCONCLUSIVE", "SKIP", "FLAKY".
std::string_view CaseHeading(const CaseResult& one);

// Cases for each word; each case counts once.
struct CaseCounts {
  uint64_t passed = 0;
  uint64_t flaky = 0;
  uint64_t failed = 0;
  uint64_t inconclusive = 0;
  uint64_t not_run = 0;
  uint64_t skipped = 0;
};
void Count(const CaseResult& one, CaseCounts& counts);
CaseCounts CountCases(const RunResult& result);

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_CASE_COUNTS_H_
