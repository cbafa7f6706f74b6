#include "engine/world/time_split.h"

#include <algorithm>
#include <functional>

namespace gauntlet {
namespace {

constexpr std::array<std::string_view, kTimeParts> kNames = {
    "compute", "exchange", "update",     "evaluate",  "save",  "other",
    "fetch",   "digest",   "prepare",    "copy",      "wait",  "write",
    "sync",    "commit",   "state_file", "retention", "build", "join",
    "claim",   "load",     "transfer",   "agree",
};

}  // namespace

std::string_view TimePartName(TimePart part) {
  return kNames.at(static_cast<size_t>(part));
}

std::optional<TimePart> FindTimePart(std::string_view name) {
  const auto found = std::ranges::find(kNames, name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<TimePart>(found - kNames.begin());
}

void AddTo(std::vector<PartTime>& totals, const std::vector<PartTime>& parts) {
  for (const PartTime& part : parts) {
    const auto at = std::ranges::lower_bound(totals, part.part, std::less(),
                                             &PartTime::part);
    if (at != totals.end() && at->part == part.part) {
      at->took += part.took;
    } else {
      totals.insert(at, part);
    }
  }
}

std::vector<PartTime> TimeSplit::Take() {
  std::vector<PartTime> parts;
  for (size_t i = 0; i < kTimeParts; ++i) {
    if (took_[i] == Duration::zero()) continue;
    parts.push_back({.part = static_cast<TimePart>(i), .took = took_[i]});
  }
  took_.fill(Duration::zero());
  return parts;
}

}  // namespace gauntlet
