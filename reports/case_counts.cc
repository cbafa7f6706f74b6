#include "reports/case_counts.h"

#include <algorithm>

namespace gauntlet {

std::string_view VerdictWord(VerdictKind kind) {
  switch (kind) {
    case VerdictKind::kPass:
      return "passed";
    case VerdictKind::kFail:
      return "failed";
    case VerdictKind::kError:
      return "inconclusive";
    case VerdictKind::kSkip:
      return "skipped";
  }
  return "";
}

std::string_view CaseWord(const CaseResult& one) {
  return one.flaky ? "flaky" : VerdictWord(one.verdict.kind);
}

std::string_view CaseHeading(const CaseResult& one) {
  return one.flaky ? "FLAKY" : VerdictKindName(one.verdict.kind);
}

void Count(const CaseResult& one, CaseCounts& counts) {
  if (one.flaky) {
    ++counts.flaky;
    return;
  }
  switch (one.verdict.kind) {
    case VerdictKind::kPass:
      ++counts.passed;
      return;
    case VerdictKind::kFail:
      ++counts.failed;
      return;
    case VerdictKind::kError:
      ++counts.inconclusive;
      return;
    case VerdictKind::kSkip:
      ++counts.skipped;
      return;
  }
}

CaseCounts CountCases(const RunResult& result) {
  CaseCounts counts;
  for (const CaseResult& one : result.cases) Count(one, counts);
  // Cases that were not run have kError as their verdict.
  counts.not_run = std::min(counts.inconclusive, result.not_run);
  counts.inconclusive -= counts.not_run;
  return counts;
}

}  // namespace gauntlet
