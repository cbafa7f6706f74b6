#include "reports/failures.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include "engine/text/columns.h"
#include "engine/world/fault_point.h"
#include "harness/record/invariants.h"
#include "harness/record/text/value_text.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

constexpr size_t kLongestReason = 120;  // columns in the line of a case

// Returns "restarts, saves": the names of the findings, in their order.
std::string NamesOf(std::span<const Finding> findings) {
  std::string names;
  for (const Finding& finding : findings) {
    names += (names.empty() ? "" : ", ") + finding.name;
  }
  return names;
}

// Returns "; also saves": the unmet expectations after the first one. REQUIRES:
// FailedOnlyExpectations(one).
std::string OthersText(const CaseResult& one) {
  const std::span<const Finding> findings = one.verdict.broken_expectations;
  return findings.size() > 1 ? "; also " + NamesOf(findings.subspan(1)) : "";
}

std::string CutReason(const std::string& text) {
  if (ColumnsOf(text) <= kLongestReason) return text;
  return text.substr(0, BytesOf(text, kLongestReason - 1)) + "…";
}

// Returns the text of an unmet expectation: "expectation saves: expected …".
// The first word tells it from the text of a violation; a check may have its
// name.
std::string ExpectationText(const Finding& finding) {
  return "expectation " + finding.message;
}

// Returns the reason of the verdict in two parts: the text of the first unmet
// expectation or violation, and "; also saves" for the others.
std::pair<std::string, std::string> ReasonParts(const CaseResult& one) {
  const Verdict& verdict = one.verdict;
  if (!one.tries.empty()) return {verdict.reason, ""};
  if (FailedOnlyExpectations(one)) {
    return {ExpectationText(verdict.broken_expectations.front()),
            OthersText(one)};
  }
  const InvariantReport* const report = NamedViolation(verdict);
  if (report == nullptr) return {verdict.reason, ""};
  const std::string others = verdict.reason.substr(
      std::min(verdict.reason.size(), report->invariant.size() + 2));
  return {fmt::format("{}: {}", report->invariant, ViolationText(*report)),
          others.empty() ? "" : "; also " + others};
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

const InvariantReport* NamedViolation(const Verdict& verdict) {
  if (verdict.kind != VerdictKind::kFail) return nullptr;
  const std::string_view first =
      std::string_view(verdict.reason).substr(0, verdict.reason.find(", "));
  for (const InvariantReport& report : verdict.invariants) {
    if (report.invariant == first && !report.findings.empty()) return &report;
  }
  return nullptr;
}

std::string ViolationText(const InvariantReport& report) {
  // A finding of kNoHang lists the waiting tasks. This text replaces the list.
  if (report.invariant == InvariantName(Invariant::kNoHang)) {
    return "the run did not end by itself in time";
  }
  const std::string& message = report.findings.front().message;
  return ShortDigests(message.substr(0, message.find(". ")));
}

bool ExpectsViolations(const CaseResult& one) {
  return one.verdict.kind == VerdictKind::kPass ||
         one.verdict.reason.starts_with(kWorldsEndDifferently);
}

std::string WholeReasonText(const CaseResult& one) {
  const auto [first, others] = ReasonParts(one);
  return first + others;
}

std::string ReasonText(const CaseResult& one) {
  const auto [first, others] = ReasonParts(one);
  // Does not cut a reason that names neither a violation nor an expectation.
  return (first == one.verdict.reason ? first : CutReason(first)) + others;
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
