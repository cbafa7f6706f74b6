#include "engine/digest.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include <xxhash.h>

namespace gauntlet {
namespace {

// Returns `size` bytes. Each of them differs from the byte at the same place of
// BytesOf(size + 1).
std::string BytesOf(size_t size) {
  std::string bytes(size, '\0');
  for (size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<char>(i * 37 + size * 11 + i / 251);
  }
  return bytes;
}

// Feeds the digest byte by byte, which takes another path through the library.
class Streamed {
 public:
  explicit Streamed(const std::string& bytes) {
    XXH3_64bits_reset(state_.get());
    for (const char byte : bytes) XXH3_64bits_update(state_.get(), &byte, 1);
    of_64 = XXH3_64bits_digest(state_.get());
    XXH3_128bits_reset(state_.get());
    for (const char byte : bytes) XXH3_128bits_update(state_.get(), &byte, 1);
    const XXH128_hash_t hash = XXH3_128bits_digest(state_.get());
    of_128 = {.high = hash.high64, .low = hash.low64};
  }

  uint64_t of_64 = 0;
  Digest of_128;

 private:
  std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state_{
      XXH3_createState(), &XXH3_freeState};
};

void ExpectIsXxh3(size_t size) {
  const std::string bytes = BytesOf(size);
  const Streamed expected(bytes);
  EXPECT_EQ(DigestOf(bytes), expected.of_128) << size;
  EXPECT_EQ(ShortDigestOf(bytes), expected.of_64) << size;
}

// Sizes beyond the limits of every path that XXH3 has for short input.
TEST(DigestTest, IsXxh3OfBytesOfAnyNumber) {
  for (size_t size = 0; size <= 600; ++size) ExpectIsXxh3(size);
}

// For longer input, XXH3 mixes again every 1024 bytes, and treats the last
// bytes by another rule.
TEST(DigestTest, IsXxh3OfManyBytes) {
  for (const size_t size :
       {1023, 1024, 1025, 1088, 2047, 2048, 2049, 7720, 65535, 65536, 65537}) {
    ExpectIsXxh3(size);
  }
}

TEST(DigestTest, ItsTextIsReadBackAndNothingElseIs) {
  const Digest digest = DigestOf(BytesOf(3));
  const std::string text = digest.ToString();
  EXPECT_EQ(text.size(), Digest::kDigits);
  EXPECT_EQ(Digest::Parse(text), digest);
  EXPECT_EQ(digest.Short(), text.substr(0, 8));
  for (const std::string& wrong :
       {text + "0", text.substr(1), "G" + text.substr(1), "A" + text.substr(1),
        std::string()}) {
    EXPECT_EQ(Digest::Parse(wrong), std::nullopt) << wrong;
  }
}

}  // namespace
}  // namespace gauntlet
