// Lists choices of the unsynced changes of names that survive a power loss.
#ifndef GAUNTLET_CHAOS_CRASH_NAME_CHOICES_H_
#define GAUNTLET_CHAOS_CRASH_NAME_CHOICES_H_

#include <cstddef>
#include <vector>

namespace gauntlet {

struct NameChoice {
  size_t prefix = 0;         // number of oldest changes kept
  std::vector<size_t> lost;  // indices < prefix, ascending
  bool operator==(const NameChoice&) const = default;

  std::vector<bool> Kept(size_t changes) const;
};

// Returns the choices in which the newest 0 to `newest` changes are lost.
std::vector<NameChoice> PrefixesOf(size_t changes, size_t newest);
// Returns prefixes that lack one change: in turn, each of the `newest` changes
// before the last change of the prefix.
std::vector<NameChoice> OneMissing(size_t prefix, size_t newest);
// Returns all subsets that are neither a prefix nor a prefix without one
// change. REQUIRES: changes < 32.
std::vector<NameChoice> OtherSubsets(size_t changes);

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_CRASH_NAME_CHOICES_H_
