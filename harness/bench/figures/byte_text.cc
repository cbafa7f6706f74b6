#include "harness/bench/figures/byte_text.h"

#include <array>
#include <cmath>
#include <utility>

#include "engine/text/units.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// "B" comes last, because the other units end in "B" too.
constexpr std::array kUnits = {
    std::pair{std::string_view("GB"), 1e9},
    std::pair{std::string_view("MB"), 1e6},
    std::pair{std::string_view("kB"), 1e3},
    std::pair{std::string_view("B"), 1.0},
};
constexpr double kMostBytes = 1e15;

}  // namespace

std::string ByteText(uint64_t bytes) {
  const auto value = static_cast<double>(bytes);
  for (const auto& [unit, size] : kUnits) {
    if (value < size && size > 1.0) continue;
    const double rounded = std::round(value / size * 100.0) / 100.0;
    return fmt::format("{}{}", rounded, unit);
  }
  return "";
}

std::optional<uint64_t> ParseBytes(std::string_view text) {
  for (const auto& [unit, size] : kUnits) {
    if (!text.ends_with(unit)) continue;
    const std::optional<double> number =
        ParseNumber(text.substr(0, text.size() - unit.size()));
    if (!number || *number < 0 || *number * size > kMostBytes) {
      return std::nullopt;
    }
    return static_cast<uint64_t>(std::llround(*number * size));
  }
  return std::nullopt;
}

}  // namespace gauntlet
