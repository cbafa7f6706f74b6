// Durations, sizes and numbers as text, in scenarios and options.
#ifndef GAUNTLET_ENGINE_TEXT_UNITS_H_
#define GAUNTLET_ENGINE_TEXT_UNITS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/world/clock.h"

namespace gauntlet {

// Longest duration of a scenario, an option or a fault.
inline constexpr Duration kLongestDuration = std::chrono::hours(24);

// Parses "200ms", "1s", "1.5s", "2m" or "1h"; also us and ns. At most
// kLongestDuration. Requires a unit, except for 0.
std::optional<Duration> ParseDuration(std::string_view text);
// Largest size of a scenario or an option: 1048576GiB.
inline constexpr uint64_t kLargestSize = uint64_t{1} << 50;

// Parses "512B", "64KiB", "1MiB", "2GiB", or a whole number of bytes. At most
// kLargestSize.
std::optional<uint64_t> ParseSize(std::string_view text);
// Parses a number of decimal digits only.
std::optional<uint64_t> ParseWholeNumber(std::string_view text);
// Parses "0.1" or "1e-3"; the number must be finite.
std::optional<double> ParseNumber(std::string_view text);

// Returns the shortest text that ParseDuration reads as the duration: "1.5s".
std::string DurationToText(Duration duration);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TEXT_UNITS_H_
