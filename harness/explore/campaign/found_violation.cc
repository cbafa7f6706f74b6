#include "harness/explore/campaign/found_violation.h"

#include <algorithm>
#include <string_view>

#include "harness/explore/trial/plan_runner.h"
#include "harness/record/finding_kind.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr std::string_view kFinding = "finding";
constexpr std::string_view kFound = "found:";

std::optional<Finding> FindAmong(const std::vector<Finding>& findings,
                                 const Violation& violation) {
  const auto found = std::ranges::find_if(findings, [&](const Finding& one) {
    return one.invariant == violation.invariant && one.name == violation.name;
  });
  if (found == findings.end()) return std::nullopt;
  return *found;
}

}  // namespace

std::vector<std::string> FindingLabels(const Violation& violation) {
  return {std::string(kFinding),
          fmt::format("{}{}/{}", kFound, violation.invariant, violation.name)};
}

bool IsFinding(const std::vector<std::string>& labels) {
  return std::ranges::find(labels, kFinding) != labels.end();
}

std::optional<Violation> FoundViolation(
    const std::vector<std::string>& labels) {
  for (const std::string& label : labels) {
    const size_t slash = label.find('/');
    if (!label.starts_with(kFound) || slash == label.npos) continue;
    return Violation{
        .invariant = label.substr(kFound.size(), slash - kFound.size()),
        .name = label.substr(slash + 1)};
  }
  return std::nullopt;
}

std::optional<Finding> FindingOf(const Verdict& verdict,
                                 const Violation& violation) {
  for (const InvariantReport& report : verdict.invariants) {
    if (report.invariant != violation.invariant) continue;
    // An exploration reports kNoLauncher if no launcher came to an end. The
    // judge has other names for this, so any finding of the invariant counts as
    // the same violation. Returns the first.
    if (violation.name == InfoOf(FindingKind::kNoLauncher).name &&
        !report.findings.empty()) {
      return report.findings.front();
    }
    return FindAmong(report.findings, violation);
  }
  return FindAmong(verdict.broken_expectations, violation);
}

bool IsBroken(const Record& record, const Verdict& verdict,
              const Violation& violation) {
  if (violation.invariant == kDeterministic) {
    return !record.nondeterminism.empty();
  }
  if (IsOf(FindingKind::kFinalState, {.invariant = violation.invariant,
                                      .name = violation.name,
                                      .message = ""})) {
    return EndsElsewhere(record);
  }
  return FindingOf(verdict, violation).has_value();
}

}  // namespace gauntlet
