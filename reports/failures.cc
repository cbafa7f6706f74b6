#include "reports/failures.h"

#include <algorithm>
#include <span>

#include "engine/text/columns.h"
#include "engine/world/fault_point.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

constexpr size_t kLongestExpectation = 120;  // columns in the line of a case

// Returns "restarts, saves": the names of the findings, in their order.
std::string NamesOf(std::span<const Finding> findings) {
  std::string names;
  for (const Finding& finding : findings) {
    names += (names.empty() ? "" : ", ") + finding.name;
  }
  return names;
}

// REQUIRES: FailedOnlyExpectations(one).
std::string WithOthers(std::string first, const CaseResult& one) {
  const std::span<const Finding> findings = one.verdict.broken_expectations;
  if (findings.size() > 1) first += "; also " + NamesOf(findings.subspan(1));
  return first;
}

std::string CutExpectation(const std::string& text) {
  if (ColumnsOf(text) <= kLongestExpectation) return text;
  return text.substr(0, BytesOf(text, kLongestExpectation - 1)) + "…";
}

}  // namespace

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

bool FailedOnlyExpectations(const CaseResult& one) {
  return HasOnlyUnmetExpectations(one.verdict);
}

std::string WholeReasonText(const CaseResult& one) {
  if (!FailedOnlyExpectations(one) || !one.tries.empty()) {
    return one.verdict.reason;
  }
  return WithOthers(one.verdict.broken_expectations.front().message, one);
}

std::string ReasonText(const CaseResult& one) {
  if (!FailedOnlyExpectations(one) || !one.tries.empty()) {
    return one.verdict.reason;
  }
  return WithOthers(
      CutExpectation(one.verdict.broken_expectations.front().message), one);
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

std::string ReferenceTimeText(const CaseResult& one) {
  constexpr double kNoted = 1;  // seconds
  if (one.reference_seconds < kNoted) return "";
  return fmt::format("{} of it for the reference run, which is cached now",
                     CaseSecondsText(one.reference_seconds));
}

}  // namespace gauntlet
