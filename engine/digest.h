// XXH3-128 digests: of files, of tensors, of the whole training state.
#ifndef GAUNTLET_ENGINE_DIGEST_H_
#define GAUNTLET_ENGINE_DIGEST_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace gauntlet {

struct Digest {
  static constexpr size_t kDigits = 32;  // length of the text in hexadecimal

  uint64_t high = 0;
  uint64_t low = 0;

  auto operator<=>(const Digest&) const = default;
  // Returns kDigits lower-case hexadecimal digits, high half first.
  std::string ToString() const;
  // Returns the first 8 digits, for people.
  std::string Short() const;
  // Parses the text of ToString; nullopt for any other text.
  static std::optional<Digest> Parse(std::string_view hex);
};

// Hash of a digest for containers: the bits of a digest need no more mixing.
struct DigestHash {
  size_t operator()(const Digest& digest) const { return digest.low; }
};

// Returns XXH3-128 of the bytes, seed 0.
Digest DigestOf(std::span<const std::byte> bytes);
Digest DigestOf(std::string_view bytes);
// XXH3-64: only for values that are compared within one process.
uint64_t ShortDigestOf(std::span<const std::byte> bytes);
uint64_t ShortDigestOf(std::string_view bytes);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_DIGEST_H_
