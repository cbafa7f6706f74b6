#include "engine/ckpt/repeated_name.h"

#include <algorithm>

namespace gauntlet {

std::optional<std::string_view> FindRepeated(
    std::vector<std::string_view> names) {
  std::ranges::sort(names);
  const auto twice = std::ranges::adjacent_find(names);
  if (twice == names.end()) return std::nullopt;
  return *twice;
}

}  // namespace gauntlet
