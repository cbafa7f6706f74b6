// Which findings an exploration has, and which of them explains a later case.
#ifndef GAUNTLET_HARNESS_EXPLORE_KNOWN_CAUSES_H_
#define GAUNTLET_HARNESS_EXPLORE_KNOWN_CAUSES_H_

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/explore/coverage.h"
#include "harness/explore/shrink.h"

namespace gauntlet {

// What one cause is told from another by, as far as the outside shows it.
struct Cause {
  std::set<Breach> symptoms;                     // all that it breaks
  std::set<std::pair<FaultKind, Point>> faults;  // that fired
  // The first value that is not the reference's: "tensor rng/key"; "": none.
  std::string first_difference;
};

// Whether one bug may be behind both, wherever it shows: the same value is the
// first to differ, or, where none does, they break the same things.
bool AreAlike(const Cause& a, const Cause& b);

std::set<std::pair<FaultKind, Point>> PlacesOf(
    const std::vector<FiredFault>& fired);

class KnownCauses {
 public:
  // The finding that is enough of a reason for the breach: it breaks the same,
  // and its faults are among those that fired.
  std::optional<size_t> Explaining(const Breach& breach,
                                   const std::vector<FiredFault>& fired) const;
  // The finding of a cause that is alike, by the same faults, and breaks this.
  std::optional<size_t> EqualTo(const Cause& cause, const Breach& breach) const;
  // One finding may have several, as the plans that lead to it do.
  void Add(Cause cause, size_t finding);

 private:
  std::vector<std::pair<Cause, size_t>> causes_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_KNOWN_CAUSES_H_
