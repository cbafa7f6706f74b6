#include "harness/scenario/format/map_reader.h"

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

TEST(MapReaderTest, OffsetsAreSharesOrBytes) {
  EXPECT_EQ(ParseFileOffset("50%"), (FileOffset{50, OffsetUnit::kPercent}));
  EXPECT_EQ(ParseFileOffset("4096"), (FileOffset{4096, OffsetUnit::kBytes}));
  EXPECT_EQ(ParseFileOffset("4KiB"), (FileOffset{4096, OffsetUnit::kBytes}));
  for (const char* bad : {"", "%", "101%", "-1%", "5.5%", "1e3", "50 %"}) {
    EXPECT_FALSE(ParseFileOffset(bad)) << bad;
  }
}

}  // namespace
}  // namespace gauntlet
