// Sizes in decimal units, as in disk benchmarks.
#ifndef GAUNTLET_HARNESS_BENCH_FIGURES_BYTE_TEXT_H_
#define GAUNTLET_HARNESS_BENCH_FIGURES_BYTE_TEXT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gauntlet {

// Returns "10MB", "1.5GB", "800kB" or "12B": the shortest form with up to two
// decimals.
std::string ByteText(uint64_t bytes);

// Parses "10MB", "1.5GB", "100kB" or "12B". A number without a unit is an
// error.
std::optional<uint64_t> ParseBytes(std::string_view text);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_BENCH_FIGURES_BYTE_TEXT_H_
