#include "engine/world/time_split.h"

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

Duration TotalOf(const std::vector<PartTime>& parts) {
  Duration total{0};
  for (const PartTime& part : parts) total += part.took;
  return total;
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
