#include "reports/failures.h"

#include <algorithm>

#include "engine/world/fault_point.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

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

std::string PlantedBugText(const std::string& name) {
  for (const PlantedBugInfo& info : AllPlantedBugs()) {
    if (info.name == name) return fmt::format("{}: {}", name, info.description);
  }
  return name;
}

std::string UnnoticedBugNote(const CaseResult& one) {
  const bool is_noticed = std::ranges::any_of(
      one.verdict.invariants,
      [](const InvariantReport& report) { return report.violations > 0; });
  if (one.planted_bugs.empty() || is_noticed ||
      one.verdict.kind != VerdictKind::kPass) {
    return "";
  }
  const bool is_one = one.planted_bugs.size() == 1;
  return fmt::format("planted bug{} {} {} on; no check noticed {}",
                     is_one ? "" : "s", fmt::join(one.planted_bugs, ", "),
                     is_one ? "is" : "are", is_one ? "it" : "them");
}

std::string CaseSecondsText(double seconds) {
  return seconds < 0.1 ? fmt::format("{:.0f}ms", seconds * 1000)
                       : fmt::format("{:.1f}s", seconds);
}

}  // namespace gauntlet
