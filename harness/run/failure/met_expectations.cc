#include "harness/run/failure/met_expectations.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/record/invariants.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

constexpr size_t kMostKeys = 20;

void AddOnce(std::string key, std::vector<std::string>& keys) {
  if (std::ranges::find(keys, key) == keys.end())
    keys.push_back(std::move(key));
}

// Adds an expectation, such as "ends_at: {step: 8}". A scenario may have a key
// only once, so an earlier "ends_at: {epoch: 2}" becomes
// "ends_at: {epoch: 2, step: 8}" instead.
void AddKey(const std::string& met, std::vector<std::string>& keys) {
  const std::string key = met.substr(0, met.find('{') + 1);
  const auto same =
      std::ranges::find_if(keys, [&key](const std::string& other) {
        return !key.empty() && other.starts_with(key);
      });
  if (same == keys.end() || *same == met) return AddOnce(met, keys);
  same->pop_back();
  *same += ", " + met.substr(key.size());
}

// Adds the keys of `expect` about events that the run did not have.
void AddKeysWithoutEvent(const Record& record, const Verdict& verdict,
                         std::vector<std::string>& keys) {
  const Expectation& expect = record.expect;
  if (verdict.facts.restarts == 0) {
    if (expect.recomputed_steps_max) AddOnce("recomputed_steps", keys);
    if (expect.epochs_after_restart_exactly) {
      AddOnce("epochs_after_restart", keys);
    }
  }
  const bool has_loss = std::ranges::any_of(
      verdict.invariants, [](const InvariantReport& report) {
        return report.invariant == InvariantName(Invariant::kDetection) &&
               report.instances > 0;
      });
  if (expect.detected_in_max_ns && !has_loss) AddOnce("detected_in", keys);
}

}  // namespace

std::string PlaceOfExpect(const CaseResult& result) {
  return result.expect_line == 0
             ? result.file
             : fmt::format("{}:{}", result.file, result.expect_line);
}

std::string MetExpectationsText(const Record& record, const Verdict& verdict) {
  std::vector<std::string> keys;
  std::vector<std::string> removed;
  for (const Finding& finding : verdict.broken_expectations) {
    if (!finding.met) return "";
    if (keys.size() + removed.size() == kMostKeys) {
      keys.emplace_back("…");
      break;
    }
    if (finding.met->starts_with(kWithoutKey)) {
      AddOnce(finding.met->substr(kWithoutKey.size()), removed);
    } else {
      AddKey(*finding.met, keys);
    }
  }
  AddKeysWithoutEvent(record, verdict, removed);
  const std::string set =
      keys.empty() ? "" : fmt::format("set {}", fmt::join(keys, ", "));
  if (removed.empty()) return set;
  return fmt::format("{}remove {}", set.empty() ? "" : set + " and ",
                     fmt::join(removed, ", "));
}

}  // namespace gauntlet
