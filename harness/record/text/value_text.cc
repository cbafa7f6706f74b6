#include "harness/record/text/value_text.h"

#include <algorithm>
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

std::string ShortDigests(std::string_view text) {
  constexpr std::string_view kHexDigits = "0123456789abcdef";
  constexpr size_t kDigits = 32;  // of a digest
  constexpr size_t kShown = 8;
  std::string out;
  while (!text.empty()) {
    const size_t hex =
        std::min(text.find_first_not_of(kHexDigits), text.size());
    out += text.substr(0, hex == kDigits ? kShown : hex);
    text.remove_prefix(hex);
    const size_t other = std::min(text.find_first_of(kHexDigits), text.size());
    out += text.substr(0, other);
    text.remove_prefix(other);
  }
  return out;
}

std::string TimeSinceBegin(int64_t ns) {
  return fmt::format("{:.3f}s", static_cast<double>(ns) / 1e9);
}

}  // namespace gauntlet
