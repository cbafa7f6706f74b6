#include "harness/record/text/value_text.h"

#include <bit>

#include <fmt/format.h>

namespace gauntlet {

std::string DecimalOfFloat(uint32_t bits) {
  return fmt::format("{}", std::bit_cast<float>(bits));
}

std::string HexOfFloat(uint32_t bits) { return fmt::format("{:08x}", bits); }

std::string ValueText(std::string_view decimal, std::string_view hex) {
  return fmt::format("{} (0x{})", decimal, hex);
}

std::string FloatText(uint32_t bits) {
  return ValueText(DecimalOfFloat(bits), HexOfFloat(bits));
}

std::string TimeSinceBegin(int64_t ns) {
  return fmt::format("{:.3f}s", static_cast<double>(ns) / 1e9);
}

}  // namespace gauntlet
