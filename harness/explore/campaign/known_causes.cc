#include "harness/explore/campaign/known_causes.h"

#include <algorithm>

namespace gauntlet {

std::set<std::pair<FaultKind, Point>> PlacesOf(
    const std::vector<FiredFault>& fired) {
  std::set<std::pair<FaultKind, Point>> places;
  for (const FiredFault& fault : fired) {
    places.emplace(fault.kind, fault.point);
  }
  return places;
}

bool AreAlike(const Cause& a, const Cause& b) {
  return a.first_difference == b.first_difference &&
         (!a.first_difference.empty() || a.symptoms == b.symptoms);
}

std::optional<size_t> KnownCauses::Explaining(
    const Violation& violation, const std::vector<FiredFault>& fired) const {
  const std::set<std::pair<FaultKind, Point>> places = PlacesOf(fired);
  for (const auto& [cause, finding] : causes_) {
    if (cause.symptoms.contains(violation) &&
        std::ranges::includes(places, cause.faults)) {
      return finding;
    }
  }
  return std::nullopt;
}

std::optional<size_t> KnownCauses::EqualTo(const Cause& cause,
                                           const Violation& violation) const {
  for (const auto& [known, finding] : causes_) {
    if (known.faults == cause.faults && known.symptoms.contains(violation) &&
        AreAlike(known, cause)) {
      return finding;
    }
  }
  return std::nullopt;
}

void KnownCauses::Add(Cause cause, size_t finding) {
  causes_.emplace_back(std::move(cause), finding);
}

}  // namespace gauntlet
