#include "reports/failures.h"

#include <algorithm>

#include <fmt/format.h>

namespace gauntlet {

bool IsFailure(const CaseResult& one) {
  return one.verdict.kind == VerdictKind::kFail ||
         one.verdict.kind == VerdictKind::kError;
}

bool RanHere(const CaseResult& one) {
  return one.verdict.kind != VerdictKind::kSkip &&
         one.verdict.kind != VerdictKind::kNotRun;
}

bool NeedsExplanation(const CaseResult& one) {
  return one.flaky || IsFailure(one);
}

std::vector<const CaseResult*> CasesToExplain(const RunResult& result) {
  std::vector<const CaseResult*> cases;
  for (const CaseResult& one : result.cases) {
    if (NeedsExplanation(one)) cases.push_back(&one);
  }
  std::ranges::stable_sort(cases, {}, [](const CaseResult* one) {
    if (one->flaky) return 1;
    return one->verdict.kind == VerdictKind::kError ? 2 : 0;
  });
  return cases;
}

std::string FailureCause(const CaseResult& one) {
  const Verdict& verdict = one.verdict;
  if (!one.cause.empty()) return one.cause;
  if (verdict.kind == VerdictKind::kError) return verdict.reason;
  for (const InvariantReport& report : verdict.invariants) {
    if (report.findings.empty()) continue;
    const Finding& first = report.findings.front();
    return fmt::format("{} ({}): {}", first.invariant, first.name,
                       first.message);
  }
  return verdict.broken_expectations.empty()
             ? verdict.reason
             : verdict.broken_expectations.front().message;
}

std::string CaseSecondsText(double seconds) {
  return seconds < 0.1 ? fmt::format("{:.0f}ms", seconds * 1000)
                       : fmt::format("{:.1f}s", seconds);
}

}  // namespace gauntlet
