#include "engine/ckpt/repeated_name.h"

#include <algorithm>

namespace gauntlet {

std::optional<std::string_view> FindRepeated(
    std::vector<std::string_view> names) {
  // That none is there shows sooner in this order than in that of the bytes.
  std::ranges::sort(names, [](std::string_view a, std::string_view b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  });
  if (std::ranges::adjacent_find(names) == names.end()) return std::nullopt;
  std::ranges::sort(names);
  return *std::ranges::adjacent_find(names);
}

}  // namespace gauntlet
