#include "harness/record/text/number_list.h"

#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

// Returns the ranges of consecutive numbers: their first and last numbers.
std::vector<std::pair<uint64_t, uint64_t>> RangesOf(
    const std::set<uint64_t>& numbers) {
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  for (const uint64_t number : numbers) {
    if (!ranges.empty() && ranges.back().second + 1 == number) {
      ranges.back().second = number;
    } else {
      ranges.emplace_back(number, number);
    }
  }
  return ranges;
}

}  // namespace

std::string NumberListText(const std::set<uint64_t>& numbers) {
  std::vector<std::string> parts;
  for (const auto& [first, last] : RangesOf(numbers)) {
    if (last - first >= 2) {
      parts.push_back(fmt::format("{} to {}", first, last));
      continue;
    }
    parts.push_back(fmt::to_string(first));
    if (last != first) parts.push_back(fmt::to_string(last));
  }
  if (parts.empty()) return "";
  const std::string last = std::move(parts.back());
  parts.pop_back();
  return parts.empty() ? last
                       : fmt::format("{} and {}", fmt::join(parts, ", "), last);
}

std::string NumberedText(std::string_view noun,
                         const std::set<uint64_t>& numbers) {
  return fmt::format("{}{} {}", noun, numbers.size() == 1 ? "" : "s",
                     NumberListText(numbers));
}

}  // namespace gauntlet
