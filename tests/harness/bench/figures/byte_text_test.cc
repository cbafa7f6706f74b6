#include "harness/bench/figures/byte_text.h"

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

TEST(ByteText, UsesGreatestUnit) {
  EXPECT_EQ(ByteText(0), "0B");
  EXPECT_EQ(ByteText(999), "999B");
  EXPECT_EQ(ByteText(1'000), "1kB");
  EXPECT_EQ(ByteText(10'000'000), "10MB");
  EXPECT_EQ(ByteText(1'500'000'000), "1.5GB");
  EXPECT_EQ(ByteText(1'234'567), "1.23MB");
}

TEST(ByteText, ReadsWhatItWrites) {
  for (const uint64_t bytes : {uint64_t{0}, uint64_t{12}, uint64_t{100'000},
                               uint64_t{10'000'000}, uint64_t{1'500'000'000}}) {
    EXPECT_EQ(ParseBytes(ByteText(bytes)), bytes);
  }
}

TEST(ByteText, RefusesOtherTexts) {
  for (const char* text :
       {"", "10", "MB", "-1MB", "ten MB", "10 MB", "10mb", "1e30GB", "nanMB"}) {
    EXPECT_EQ(ParseBytes(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace gauntlet
