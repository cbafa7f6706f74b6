#include "reports/ci/run_comparison.h"

#include <map>
#include <string_view>
#include <utility>

#include "engine/text/counted.h"
#include "reports/events/event_text.h"
#include "reports/failures.h"
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gauntlet {
namespace {

using Json = nlohmann::ordered_json;
using CaseKey = std::pair<std::string, std::string>;

constexpr double kSlowerFactor = 1.2;
constexpr double kSlowerSeconds = 0.1;

CaseKey KeyOf(const CaseResult& one) { return {one.name, one.world}; }

std::map<CaseKey, const CaseResult*> CasesByKey(const RunResult& result) {
  std::map<CaseKey, const CaseResult*> cases;
  for (const CaseResult& one : result.cases) cases.emplace(KeyOf(one), &one);
  return cases;
}

bool Is(const CaseResult* one, VerdictKind kind) {
  return one != nullptr && one->verdict.kind == kind;
}

bool Fails(const CaseResult* one) { return one != nullptr && IsFailure(*one); }

// Returns true iff the case ran in both runs, and its time grew by more than
// the factor kSlowerFactor and by more than kSlowerSeconds.
bool IsSlower(const ComparedCase& both) {
  for (const CaseResult* one : {both.before, both.after}) {
    if (one == nullptr || !RanHere(*one)) return false;
  }
  const double before = both.before->seconds;
  const double after = both.after->seconds;
  return after > before * kSlowerFactor && after - before > kSlowerSeconds;
}

void Sort(const ComparedCase& both, RunComparison& comparison) {
  const auto& [before, after] = both;
  if (before == nullptr) {
    comparison.added.push_back(both);
    return;
  }
  if (Fails(after) && !Fails(before)) comparison.newly_failing.push_back(both);
  if (Is(after, VerdictKind::kPass) && Fails(before)) {
    comparison.newly_passing.push_back(both);
  }
  if (Is(after, VerdictKind::kSkip) && !Is(before, VerdictKind::kSkip)) {
    comparison.newly_skipped.push_back(both);
  }
  if (Is(after, VerdictKind::kNotRun) && !Is(before, VerdictKind::kNotRun)) {
    comparison.newly_not_run.push_back(both);
  }
  if (IsSlower(both)) comparison.slower.push_back(both);
}

struct ComparisonPart {
  const char* name;  // for people
  const char* key;   // in JSON
  std::vector<ComparedCase> RunComparison::*cases;
};
constexpr ComparisonPart kParts[] = {
    {"newly failing", "newly_failing", &RunComparison::newly_failing},
    {"newly passing", "newly_passing", &RunComparison::newly_passing},
    {"newly skipped", "newly_skipped", &RunComparison::newly_skipped},
    {"newly not run", "newly_not_run", &RunComparison::newly_not_run},
    {"new", "added", &RunComparison::added},
    {"removed", "removed", &RunComparison::removed},
    {"slower by more than 20 % and 0.1 s", "slower", &RunComparison::slower},
};

std::string VerdictText(const CaseResult* one) {
  if (one == nullptr) return "-";
  // A flaky case counts as its verdict, so both are printed.
  return fmt::format("{}{}", VerdictKindName(one->verdict.kind),
                     one->flaky ? " (flaky)" : "");
}

std::string SecondsText(const CaseResult* one) {
  return one != nullptr && RanHere(*one) ? CaseSecondsText(one->seconds) : "-";
}

// Returns "  real torn-manifest  PASS -> FAIL  1.9s -> 2.4s  the state …".
std::string CaseLine(const ComparedCase& both) {
  const CaseResult& one = both.after != nullptr ? *both.after : *both.before;
  std::string line = fmt::format(
      "  {:<4} {}  {} -> {}  {} -> {}", PlainText(one.world),
      PlainText(one.name), VerdictText(both.before), VerdictText(both.after),
      SecondsText(both.before), SecondsText(both.after));
  const std::string cause = Fails(both.after) ? FailureCause(one) : "";
  if (!cause.empty()) line += "  " + PlainText(cause);
  return line + "\n";
}

std::string RunText(const RunResult& result) {
  return fmt::format("run {} ({}, build {})", PlainText(result.run),
                     Counted(result.cases.size(), "case"),
                     PlainText(result.build));
}

Json SideToJson(const CaseResult* one) {
  if (one == nullptr) return nullptr;
  return {{"verdict", VerdictKindName(one->verdict.kind)},
          {"flaky", one->flaky},
          {"seconds", one->seconds},
          {"cause", IsFailure(*one) ? FailureCause(*one) : ""}};
}

Json CasesToJson(const std::vector<ComparedCase>& cases) {
  Json list = Json::array();
  for (const ComparedCase& both : cases) {
    const CaseResult& one = both.after != nullptr ? *both.after : *both.before;
    list.push_back({{"name", one.name},
                    {"world", one.world},
                    {"before", SideToJson(both.before)},
                    {"after", SideToJson(both.after)}});
  }
  return list;
}

Json RunToJson(const RunResult& result) {
  return {{"run", result.run},
          {"build", result.build},
          {"cases", result.cases.size()}};
}

}  // namespace

RunComparison CompareRuns(const RunResult& before, const RunResult& after) {
  RunComparison comparison = {.before = before, .after = after};
  const auto cases_before = CasesByKey(before);
  const auto cases_after = CasesByKey(after);
  for (const CaseResult& one : after.cases) {
    const auto found = cases_before.find(KeyOf(one));
    Sort({.before = found == cases_before.end() ? nullptr : found->second,
          .after = &one},
         comparison);
  }
  for (const CaseResult& one : before.cases) {
    if (cases_after.contains(KeyOf(one))) continue;
    comparison.removed.push_back({.before = &one});
  }
  return comparison;
}

bool IsWorse(const RunComparison& comparison) {
  return !comparison.newly_failing.empty() ||
         !comparison.newly_not_run.empty() ||
         std::ranges::any_of(comparison.added, [](const ComparedCase& both) {
           return Fails(both.after) || Is(both.after, VerdictKind::kNotRun);
         });
}

std::string RenderComparison(const RunComparison& comparison, Colour colour) {
  std::string out =
      fmt::format("before  {}\nafter   {}\n", RunText(comparison.before),
                  RunText(comparison.after));
  for (const ComparisonPart& part : kParts) {
    const std::vector<ComparedCase>& cases = comparison.*part.cases;
    const bool is_bad = part.cases == &RunComparison::newly_failing;
    const std::string head = fmt::format("{}: {}", part.name, cases.size());
    out += is_bad && !cases.empty() && colour == Colour::kOn
               ? fmt::format("\x1b[1;31m{}\x1b[0m\n", head)
               : head + "\n";
    for (const ComparedCase& both : cases) out += CaseLine(both);
  }
  return out;
}

std::string ComparisonToJson(const RunComparison& comparison) {
  Json object = {{"schema", "gauntlet.comparison/v1"},
                 {"before", RunToJson(comparison.before)},
                 {"after", RunToJson(comparison.after)}};
  for (const ComparisonPart& part : kParts) {
    object[part.key] = CasesToJson(comparison.*part.cases);
  }
  return object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace gauntlet
