#include "engine/ckpt/repeated_name.h"

#include <algorithm>

namespace gauntlet {
namespace {

// In an order that is found sooner than that of the bytes.
bool AnyRepeated(std::vector<std::string_view> names) {
  std::ranges::sort(names, [](std::string_view a, std::string_view b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  });
  return std::ranges::adjacent_find(names) != names.end();
}

}  // namespace

std::optional<std::string_view> FindRepeated(
    std::vector<std::string_view> names) {
  if (!AnyRepeated(names)) return std::nullopt;
  std::ranges::sort(names);
  return *std::ranges::adjacent_find(names);
}

}  // namespace gauntlet
