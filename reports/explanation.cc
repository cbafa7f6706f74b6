#include "reports/explanation.h"

#include <algorithm>
#include <span>

#include "engine/text/counted.h"
#include "reports/failures.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr size_t kMostExpectations = 20;
// Maximum number of unmet expectations printed above the lines on the recovery.
// If there are more, only the first one is printed there; the others follow the
// result of the checks.
constexpr size_t kMostAboveRecovery = 2;

// Returns a sentence about the checks. REQUIRES:
// FailedOnlyExpectations(result).
std::string ChecksText(const Verdict& verdict) {
  const auto checks = std::ranges::count_if(
      verdict.invariants,
      [](const InvariantReport& report) { return report.instances > 0; });
  const bool is_one = verdict.broken_expectations.size() == 1;
  return fmt::format(
      "no check found a violation ({} of {} passed); only the scenario's own "
      "expectation{} not met",
      checks, checks, is_one ? " is" : "s are");
}

// Returns the number of unmet expectations to print above the recovery.
size_t CountAboveRecovery(const std::vector<Finding>& findings) {
  return findings.size() > kMostAboveRecovery ? 1 : findings.size();
}

// Adds the unmet expectations to print above the recovery.
void AddFirstExpectations(const std::vector<Finding>& findings,
                          std::vector<ExplanationLine>& lines) {
  const size_t shown = CountAboveRecovery(findings);
  for (const Finding& finding : std::span(findings).first(shown)) {
    lines.push_back({"expected", finding.message});
  }
  if (findings.size() > shown) {
    lines.push_back({"expected", fmt::format("and {} more (see checks below)",
                                             findings.size() - shown)});
  }
}

// Adds the result of the checks, and the unmet expectations that are not
// printed above the recovery.
void AddChecks(const Verdict& verdict, std::vector<ExplanationLine>& lines) {
  lines.push_back({"checks", ChecksText(verdict)});
  const std::vector<Finding>& findings = verdict.broken_expectations;
  const size_t shown = std::min(findings.size(), kMostExpectations);
  for (size_t i = CountAboveRecovery(findings); i < shown; ++i) {
    lines.push_back({"checks", findings[i].message});
  }
  if (findings.size() > shown) {
    lines.push_back(
        {"checks", Counted(findings.size() - shown, "more expectation")});
  }
}

}  // namespace

std::vector<ExplanationLine> ExplanationOf(const CaseResult& result) {
  const FailureSummary& summary = result.summary;
  const bool only_expectations = FailedOnlyExpectations(result);
  std::vector<ExplanationLine> lines = {{"cause", result.cause},
                                        {"faults", summary.faults}};
  if (only_expectations) {
    AddFirstExpectations(result.verdict.broken_expectations, lines);
  }
  lines.push_back({"recovery", summary.recovery});
  lines.push_back({"training", summary.training});
  if (only_expectations) AddChecks(result.verdict, lines);
  lines.push_back({"next", summary.next});
  for (const std::string& bug : result.planted_bugs) {
    lines.push_back({"planted", PlantedBugText(bug) +
                                    " (the scenario switches this bug on)"});
  }
  lines.push_back({"planted", summary.planted});
  std::erase_if(lines,
                [](const ExplanationLine& line) { return line.text.empty(); });
  return lines;
}

}  // namespace gauntlet
