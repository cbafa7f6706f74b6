#include "reports/failures.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

namespace gauntlet {

bool IsFailure(const CaseResult& one) {
  return one.verdict.kind != VerdictKind::kPass &&
         one.verdict.kind != VerdictKind::kSkip;
}

bool WasNotBegun(const CaseResult& one) {
  return one.verdict.kind == VerdictKind::kError && one.seconds == 0 &&
         one.replay.empty() && one.verdict.invariants.empty();
}

std::vector<const CaseResult*> FailuresOf(const RunResult& result) {
  std::vector<const CaseResult*> failures;
  for (const CaseResult& one : result.cases) {
    if (IsFailure(one) && !WasNotBegun(one)) failures.push_back(&one);
  }
  std::ranges::stable_partition(failures, [](const CaseResult* one) {
    return one->verdict.kind != VerdictKind::kError;
  });
  return failures;
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

std::string VerdictInWords(const CaseResult& one) {
  const VerdictKind kind = one.verdict.kind;
  if (kind == VerdictKind::kPass) return "passed";
  if (kind == VerdictKind::kFail) return "failed";
  if (kind == VerdictKind::kError) return "inconclusive";
  if (kind == VerdictKind::kSkip) return "skipped";
  std::string name(VerdictKindName(kind));
  std::ranges::transform(name, name.begin(), [](unsigned char c) {
    return static_cast<char>(std::tolower(c));
  });
  return name;
}

std::string CaseSecondsText(double seconds) {
  return seconds < 0.1 ? fmt::format("{:.0f}ms", seconds * 1000)
                       : fmt::format("{:.1f}s", seconds);
}

}  // namespace gauntlet
