// Sizes in decimal units, as benchmarks of disks have them.
#ifndef GAUNTLET_HARNESS_BENCH_FIGURES_BYTE_TEXT_H_
#define GAUNTLET_HARNESS_BENCH_FIGURES_BYTE_TEXT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gauntlet {

// "10MB", "1.5GB", "800kB", "12B": the shortest form with up to two decimals.
std::string ByteText(uint64_t bytes);

// "10MB", "1.5GB", "100kB" or "12B". Not what has no unit.
std::optional<uint64_t> ParseBytes(std::string_view text);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_BENCH_FIGURES_BYTE_TEXT_H_
