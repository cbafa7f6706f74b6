#include "engine/cluster/link/job_token.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gauntlet {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kText =
    "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

TEST(JobTokenTest, ParsesItsRevealedText) {
  const Result<JobToken> token = JobToken::Parse(kText);
  ASSERT_TRUE(token.ok());
  EXPECT_EQ(token->Reveal(), kText);
  EXPECT_EQ(*JobToken::Parse(token->Reveal()), *token);
}

TEST(JobTokenTest, RefusesAnythingElse_WithoutRepeatingIt) {
  const std::string secret(kText);
  for (const std::string& text :
       {std::string(), secret.substr(1), secret + "0", secret + "\n",
        "x" + secret.substr(1), secret.substr(1) + " "}) {
    const Result<JobToken> token = JobToken::Parse(text);
    ASSERT_EQ(token.status().code(), Code::kInvalidArgument) << text;
    EXPECT_THAT(token.status().message(), HasSubstr("64 hexadecimal digits"));
    EXPECT_THAT(token.status().message(), Not(HasSubstr(secret.substr(1, 8))));
  }
}

// The expected proof was computed with Python's hmac module, from each part's
// length in 8 bytes (little endian) and the part.
TEST(TokenMacTest, IsHmacSha256) {
  const TokenMac mac(*JobToken::Parse(kText));
  const std::string proof = mac.Sign({"hello", "", "world"});
  std::string hex;
  for (const char c : proof) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    hex += kDigits[static_cast<uint8_t>(c) >> 4];
    hex += kDigits[static_cast<uint8_t>(c) & 15];
  }
  EXPECT_EQ(hex,
            "63c4d31f61ba825a6ad710f81c2ce0daee1918f0f649bfbc9288a54b83632873");
}

TEST(TokenMacTest, AcceptsItsOwnProofsOfTheSameParts) {
  const TokenMac mac(*JobToken::Parse(kText));
  const std::string proof = mac.Sign({"a", "bc"});
  EXPECT_TRUE(mac.Accepts({"a", "bc"}, proof));
  EXPECT_FALSE(mac.Accepts({"ab", "c"}, proof));
  EXPECT_FALSE(mac.Accepts({"a", "bc", ""}, proof));
  EXPECT_FALSE(mac.Accepts({"a", "bc"}, ""));
  EXPECT_FALSE(mac.Accepts({"a", "bc"}, proof + "x"));
  EXPECT_FALSE(mac.Accepts({"a", "bc"}, proof.substr(1)));
}

TEST(TokenMacTest, RefusesProofsUnderAnotherToken) {
  std::string other(kText);
  other.back() = '0';
  const TokenMac mac(*JobToken::Parse(kText));
  const TokenMac stranger(*JobToken::Parse(other));
  EXPECT_FALSE(mac.Accepts({"a"}, stranger.Sign({"a"})));
}

}  // namespace
}  // namespace gauntlet
