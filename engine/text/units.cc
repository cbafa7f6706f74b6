#include "engine/text/units.h"

#include <array>
#include <charconv>
#include <cmath>
#include <span>

#include <fmt/format.h>

namespace gauntlet {
namespace {

struct Unit {
  std::string_view name;
  uint64_t factor;
};

constexpr std::array kDurationUnits = {
    Unit{"ns", 1},
    Unit{"us", 1'000},
    Unit{"ms", 1'000'000},
    Unit{"s", 1'000'000'000},
    Unit{"m", 60'000'000'000},
    Unit{"h", 3'600'000'000'000},
};
constexpr std::array kSizeUnits = {
    Unit{"B", 1},
    Unit{"KiB", uint64_t{1} << 10},
    Unit{"MiB", uint64_t{1} << 20},
    Unit{"GiB", uint64_t{1} << 30},
};

// Parses "12.5" directly followed by a unit, into a whole number of the
// smallest unit. A zero needs no unit.
std::optional<uint64_t> ParseWithUnit(std::string_view text,
                                      std::span<const Unit> units,
                                      uint64_t limit) {
  if (text == "0") return 0;
  const size_t digits = text.find_first_not_of("0123456789.");
  if (digits == 0 || digits == std::string_view::npos) return std::nullopt;
  const std::optional<double> number = ParseNumber(text.substr(0, digits));
  if (!number) return std::nullopt;
  for (const Unit& unit : units) {
    if (unit.name != text.substr(digits)) continue;
    const double value = *number * static_cast<double>(unit.factor);
    if (value > static_cast<double>(limit)) return std::nullopt;
    return static_cast<uint64_t>(std::llround(value));
  }
  return std::nullopt;
}

}  // namespace

std::optional<Duration> ParseDuration(std::string_view text) {
  const auto ns = ParseWithUnit(
      text, kDurationUnits, static_cast<uint64_t>(kLongestDuration.count()));
  if (!ns) return std::nullopt;
  return Duration(static_cast<int64_t>(*ns));
}

std::optional<uint64_t> ParseSize(std::string_view text) {
  const auto bytes = ParseWholeNumber(text);
  if (!bytes) return ParseWithUnit(text, kSizeUnits, kLargestSize);
  return *bytes <= kLargestSize ? bytes : std::nullopt;
}

std::optional<uint64_t> ParseWholeNumber(std::string_view text) {
  uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc() || stop != end) return std::nullopt;
  return value;
}

std::optional<double> ParseNumber(std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc() || stop != end ||
      !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

std::string DurationToText(Duration duration) {
  const auto ns = static_cast<uint64_t>(duration.count());
  if (ns == 0) return "0";
  for (size_t i = kDurationUnits.size(); i-- > 0;) {
    const Unit& unit = kDurationUnits[i];
    if (ns % unit.factor == 0) {
      return fmt::format("{}{}", ns / unit.factor, unit.name);
    }
  }
  return fmt::format("{}ns", ns);
}

}  // namespace gauntlet
