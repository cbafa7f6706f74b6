// Scalars with units, as scenarios write them.
#ifndef GAUNTLET_HARNESS_SCENARIO_FORMAT_UNITS_H_
#define GAUNTLET_HARNESS_SCENARIO_FORMAT_UNITS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "chaos/inject/plan/plan.h"
#include "engine/world/clock.h"

namespace gauntlet {

// "200ms", "1s", "1.5s", "2m", "1h"; also us and ns. At most 24 hours. A
// number without a unit is none, but 0 is.
std::optional<Duration> ParseDuration(std::string_view text);
// "512B", "64KiB", "1MiB", "2GiB", or a whole number of bytes. At most 2^50.
std::optional<uint64_t> ParseSize(std::string_view text);
// "50%" (0 to 100), or a size.
std::optional<FileOffset> ParseFileOffset(std::string_view text);
// Decimal digits only.
std::optional<uint64_t> ParseWholeNumber(std::string_view text);
// "0.1", "1e-3"; finite.
std::optional<double> ParseNumber(std::string_view text);

// "1.5s": the shortest way to write it that ParseDuration reads.
std::string DurationToText(Duration duration);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_SCENARIO_FORMAT_UNITS_H_
