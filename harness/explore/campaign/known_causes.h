// Causes of the findings of an exploration. Selects the known finding that
// explains the failure of a later case.
#ifndef GAUNTLET_HARNESS_EXPLORE_CAMPAIGN_KNOWN_CAUSES_H_
#define GAUNTLET_HARNESS_EXPLORE_CAMPAIGN_KNOWN_CAUSES_H_

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/explore/coverage/coverage.h"
#include "harness/explore/diagnosis/shrink.h"

namespace gauntlet {

// Observed properties of a failure by which causes are distinguished.
struct Cause {
  std::set<Violation> symptoms;                  // all violations
  std::set<std::pair<FaultKind, Point>> faults;  // faults that fired
  // First value that differs from the reference: "tensor rng/key"; "" if no
  // value differs.
  std::string first_difference;
};

// Returns true iff one bug may explain both: the same value differs first, or
// no value differs and the symptoms are equal. The faults may have been at
// different points.
bool AreAlike(const Cause& a, const Cause& b);

std::set<std::pair<FaultKind, Point>> PlacesOf(
    const std::vector<FiredFault>& fired);

class KnownCauses {
 public:
  // Returns the index of the finding that explains the violation: the finding
  // shows the same violation, and all its faults are in `fired`.
  std::optional<size_t> Explaining(const Violation& violation,
                                   const std::vector<FiredFault>& fired) const;
  // Returns the index of the finding with a similar cause (AreAlike), the same
  // faults and this violation.
  std::optional<size_t> EqualTo(const Cause& cause,
                                const Violation& violation) const;
  // Adds a cause of the finding. A finding may have several causes: one for
  // each plan that shows it.
  void Add(Cause cause, size_t finding);

 private:
  std::vector<std::pair<Cause, size_t>> causes_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_CAMPAIGN_KNOWN_CAUSES_H_
