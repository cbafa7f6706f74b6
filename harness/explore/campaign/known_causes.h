// Which findings an exploration has, and which of them explains a later case.
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

// Visible properties that tell one cause from another.
struct Cause {
  std::set<Violation> symptoms;                  // all that it breaks
  std::set<std::pair<FaultKind, Point>> faults;  // those that fired
  // First value that differs from the reference: "tensor rng/key"; "": none.
  std::string first_difference;
};

// Returns true iff one bug may explain both, wherever it shows: the same value
// differs first, or none differs and the symptoms are equal.
bool AreAlike(const Cause& a, const Cause& b);

std::set<std::pair<FaultKind, Point>> PlacesOf(
    const std::vector<FiredFault>& fired);

class KnownCauses {
 public:
  // Returns the finding that explains the breach: it breaks the same, and its
  // faults are among those that fired.
  std::optional<size_t> Explaining(const Violation& breach,
                                   const std::vector<FiredFault>& fired) const;
  // Returns the finding of a cause that is alike, with the same faults and this
  // breach.
  std::optional<size_t> EqualTo(const Cause& cause,
                                const Violation& breach) const;
  // A finding may have several causes, as several plans lead to it.
  void Add(Cause cause, size_t finding);

 private:
  std::vector<std::pair<Cause, size_t>> causes_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_CAMPAIGN_KNOWN_CAUSES_H_
