#include "harness/run/failure/met_expectations.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

constexpr size_t kMostKeys = 20;

void AddOnce(std::string key, std::vector<std::string>& keys) {
  if (std::ranges::find(keys, key) == keys.end())
    keys.push_back(std::move(key));
}

// Adds "ends_at: {epoch: 2}". A scenario may have a key only once: with
// "ends_at: {step: 8}" it becomes "ends_at: {epoch: 2, step: 8}".
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

}  // namespace

std::string MetExpectationsText(std::span<const Finding> findings) {
  std::vector<std::string> keys;
  std::vector<std::string> removed;
  for (const Finding& finding : findings) {
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
  const std::string set =
      keys.empty() ? "" : fmt::format("set {}", fmt::join(keys, ", "));
  if (removed.empty()) return set;
  return fmt::format("{}remove {}", set.empty() ? "" : set + " and ",
                     fmt::join(removed, ", "));
}

}  // namespace gauntlet
