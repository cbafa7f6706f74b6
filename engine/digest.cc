#include "engine/digest.h"

#include <charconv>

#include <fmt/format.h>
#include <xxhash.h>
#if defined(__x86_64__)
// Selects the widest vectors of the CPU at run time; the digests are the same.
#include <xxh_x86dispatch.h>
#endif

namespace gauntlet {

std::string Digest::ToString() const {
  return fmt::format("{:016x}{:016x}", high, low);
}

std::string Digest::Short() const { return ToString().substr(0, 8); }

std::optional<Digest> Digest::Parse(std::string_view hex) {
  if (hex.size() != kDigits ||
      hex.find_first_not_of("0123456789abcdef") != hex.npos) {
    return std::nullopt;
  }
  const char* const middle = hex.data() + kDigits / 2;
  Digest digest;
  std::from_chars(hex.data(), middle, digest.high, 16);
  std::from_chars(middle, hex.data() + kDigits, digest.low, 16);
  return digest;
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
