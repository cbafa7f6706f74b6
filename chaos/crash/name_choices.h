// Which unsynced changes of names a power loss keeps: the choices that are
// tried.
#ifndef GAUNTLET_CHAOS_CRASH_NAME_CHOICES_H_
#define GAUNTLET_CHAOS_CRASH_NAME_CHOICES_H_

#include <cstddef>
#include <vector>

namespace gauntlet {

struct NameChoice {
  size_t prefix = 0;         // so many of the oldest survive
  std::vector<size_t> lost;  // but for these, ascending indices
  bool operator==(const NameChoice&) const = default;

  std::vector<bool> Kept(size_t changes) const;
};

// The newest 0 to `newest` of the changes lost.
std::vector<NameChoice> PrefixesOf(size_t changes, size_t newest);
// All of a prefix but one of its newest.
std::vector<NameChoice> OneMissing(size_t prefix, size_t newest);
// All subsets that are not among the above. REQUIRES: changes < 32.
std::vector<NameChoice> OtherSubsets(size_t changes);

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_CRASH_NAME_CHOICES_H_
