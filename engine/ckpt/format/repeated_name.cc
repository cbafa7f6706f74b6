#include "engine/ckpt/format/repeated_name.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "engine/digest.h"

namespace gauntlet {
namespace {

// Returns true if all names are unique. Uses a hash table with twice as many
// slots as names; returns false without a full search if there are too many
// collisions.
bool AllDiffer(std::span<const std::string_view> names) {
  const size_t places = std::bit_ceil(2 * names.size() + 1);
  size_t looks_left = 4 * places;
  std::vector<uint32_t> table(places);  // index of a name + 1; 0: none
  for (size_t i = 0; i < names.size(); ++i) {
    size_t place = ShortDigestOf(names[i]) & (places - 1);
    for (; table[place] != 0; place = (place + 1) & (places - 1)) {
      if (--looks_left == 0 || names[table[place] - 1] == names[i]) {
        return false;
      }
    }
    table[place] = static_cast<uint32_t>(i + 1);
  }
  return true;
}

}  // namespace

std::optional<std::string_view> FindRepeated(
    std::span<const std::string_view> names) {
  if (AllDiffer(names)) return std::nullopt;
  std::vector<std::string_view> sorted(names.begin(), names.end());
  std::ranges::sort(sorted);
  const auto twice = std::ranges::adjacent_find(sorted);
  if (twice == sorted.end()) return std::nullopt;
  return *twice;
}

}  // namespace gauntlet
