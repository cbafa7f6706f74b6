#include "harness/run/failure/uncaught_bug.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/world/fault_point.h"
#include "harness/record/invariants.h"
#include "harness/record/text/joined_texts.h"
#include "harness/run/failure/met_expectations.h"
#include "harness/run/failure/violated_checks.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

bool IsFailedMutationTest(const Record& record, const Verdict& verdict) {
  return record.expect.outcome == Outcome::kViolates &&
         verdict.kind == VerdictKind::kFail &&
         verdict.broken_expectations.empty();
}

// Returns the planted bugs that this build has.
std::vector<PlantedBugInfo> BugsOf(const Record& record) {
  std::vector<PlantedBugInfo> bugs;
  for (const std::string& name : record.setup.planted_bugs) {
    if (const std::optional<PlantedBug> bug = FindPlantedBug(name)) {
      bugs.push_back(InfoOf(*bug));
    }
  }
  return bugs;
}

// Returns the advice to expect the checks that catch the bugs; "" if the
// scenario names them all. Each named check must find a violation, so those
// that catch none of the bugs are left out.
std::string AdviceOnChecks(const Record& record,
                           const std::vector<PlantedBugInfo>& bugs,
                           const std::string& place) {
  const std::vector<std::string>& named = record.expect.invariants;
  std::set<std::string_view> catching;
  for (const PlantedBugInfo& bug : bugs) catching.insert(bug.caught_by);
  const auto is_named = [&named](std::string_view check) {
    return std::ranges::find(named, check) != named.end();
  };
  if (std::ranges::all_of(catching, is_named)) return "";
  std::vector<std::string> others = named;
  std::erase_if(others, [&catching](const std::string& check) {
    return catching.contains(check);
  });
  return fmt::format("{}set invariants: [{}] under expect ({})",
                     others.empty()
                         ? ""
                         : fmt::format("if {} then does not catch it, ",
                                       fmt::join(others, ", ")),
                     fmt::join(catching, ", "), place);
}

// Returns ", as the run keeps the rule of samples (each step uses the
// reference's samples; …)", with the description of each check that the
// scenario names and that found no violation; "" if there is none.
std::string KeptRulesText(const Record& record,
                          const std::vector<std::string>& violated) {
  std::vector<std::string> rules;
  for (const InvariantInfo& info : AllInvariants()) {
    const auto has = [&info](const std::vector<std::string>& names) {
      return std::ranges::find(names, info.name) != names.end();
    };
    if (!has(record.expect.invariants) || has(violated)) continue;
    rules.push_back(fmt::format("{} ({})", info.name, info.description));
  }
  if (rules.empty()) return "";
  return fmt::format(", as the run keeps the rule{} of {}",
                     rules.size() == 1 ? "" : "s", fmt::join(rules, " and "));
}

}  // namespace

std::string ExplainUncaughtBug(const Record& record, const Verdict& verdict) {
  if (!IsFailedMutationTest(record, verdict) || !ViolatedIn(verdict).empty()) {
    return "";
  }
  const std::vector<PlantedBugInfo> bugs = BugsOf(record);
  std::vector<std::string> texts;
  texts.reserve(bugs.size());
  for (const PlantedBugInfo& bug : bugs) {
    texts.push_back(
        fmt::format("{} shows only when {}", bug.name, bug.shows_when));
  }
  if (texts.empty()) return "";
  const std::optional<uint64_t> resumed = verdict.facts.resumed_from;
  return fmt::format("no check found a violation: {}; this run {}",
                     JoinedTexts(std::move(texts)),
                     resumed ? fmt::format("resumed from step {}", *resumed)
                             : "loaded no checkpoint");
}

std::string AdviceOnUncaughtBug(const Record& record,
                                const CaseResult& result) {
  if (!IsFailedMutationTest(record, result.verdict)) {
    return record.expect.outcome == Outcome::kViolates ||
                   ViolatedIn(result.verdict).empty()
               ? ""
               : fmt::format(
                     "remove planted_bugs, which switches on {}; to test the "
                     "checks instead, expect their violation (see planted)",
                     fmt::join(record.setup.planted_bugs, " and "));
  }
  const std::string place = PlaceOfExpect(result);
  if (const std::vector<std::string> violated = ViolatedIn(result.verdict);
      !violated.empty()) {
    return fmt::format("set invariants: [{}] under expect ({}){}",
                       fmt::join(violated, ", "), place,
                       KeptRulesText(record, violated));
  }
  const std::vector<PlantedBugInfo> bugs = BugsOf(record);
  std::vector<std::string> texts;
  texts.reserve(bugs.size() + 1);
  for (const PlantedBugInfo& bug : bugs) {
    texts.push_back(fmt::format("change the scenario so that {} ({})",
                                bug.shows_when, bug.shows_with));
  }
  if (texts.empty()) return "";
  if (std::string text = AdviceOnChecks(record, bugs, place); !text.empty()) {
    texts.push_back(std::move(text));
  }
  return JoinedTexts(std::move(texts));
}

}  // namespace gauntlet
