#include "engine/digest.h"

#include <array>
#include <cstring>

#include <xxhash.h>
#if defined(__x86_64__)
// Uses the widest vectors of the CPU; the result is the same.
#include <xxh_x86dispatch.h>
#endif

namespace gauntlet {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

// By character: the value of the digit, or kNoDigit.
constexpr uint8_t kNoDigit = 16;
constexpr auto kValues = [] {
  std::array<uint8_t, 256> values = {};
  values.fill(kNoDigit);
  for (uint8_t value = 0; value < kDigits.size(); ++value) {
    values[static_cast<uint8_t>(kDigits[value])] = value;
  }
  return values;
}();

std::optional<uint64_t> ParseHalf(std::string_view hex) {
  uint64_t half = 0;
  uint8_t all = 0;
  for (const char c : hex) {
    const uint8_t value = kValues[static_cast<uint8_t>(c)];
    all |= value;
    half = half << 4 | value;
  }
  if ((all & kNoDigit) != 0) return std::nullopt;
  return half;
}

// The two digits of each byte value.
constexpr auto kPairs = [] {
  std::array<std::array<char, 2>, 256> pairs = {};
  for (size_t byte = 0; byte < pairs.size(); ++byte) {
    pairs[byte] = {kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return pairs;
}();

// Writes sixteen digits, by table: digests are written very often.
void PutHalf(uint64_t value, char* to) {
  for (size_t i = sizeof value; i-- > 0; value >>= 8) {
    std::memcpy(to + 2 * i, kPairs[value & 255].data(), 2);
  }
}

}  // namespace

std::string Digest::ToString() const {
  std::string hex(kDigits, '0');
  PutHalf(high, hex.data());
  PutHalf(low, hex.data() + kDigits / 2);
  return hex;
}

std::string Digest::Short() const { return ToString().substr(0, 8); }

std::optional<Digest> Digest::Parse(std::string_view hex) {
  if (hex.size() != kDigits) return std::nullopt;
  const auto high = ParseHalf(hex.substr(0, kDigits / 2));
  const auto low = ParseHalf(hex.substr(kDigits / 2));
  if (!high || !low) return std::nullopt;
  return Digest{.high = *high, .low = *low};
}

Digest DigestOf(std::span<const std::byte> bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {.high = hash.high64, .low = hash.low64};
}

uint64_t ShortDigestOf(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

uint64_t ShortDigestOf(std::string_view bytes) {
  return ShortDigestOf(std::as_bytes(std::span(bytes.data(), bytes.size())));
}

Digest DigestOf(std::string_view bytes) {
  return DigestOf(std::as_bytes(std::span(bytes.data(), bytes.size())));
}

}  // namespace gauntlet
