#include "engine/text/units.h"

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

using std::chrono::milliseconds;

TEST(UnitsTest, DurationsNeedAUnit) {
  EXPECT_EQ(ParseDuration("200ms"), milliseconds(200));
  EXPECT_EQ(ParseDuration("1.5s"), milliseconds(1500));
  EXPECT_EQ(ParseDuration("2m"), std::chrono::minutes(2));
  EXPECT_EQ(ParseDuration("24h"), std::chrono::hours(24));
  EXPECT_EQ(ParseDuration("0"), Duration(0));
  for (const char* bad :
       {"", "5", "ms", "-1s", "1 s", "1S", "1e3s", "25h", "1.2.3s", ".", ".s",
        "99999999999999999999s", "1ss", "nan", "infs"}) {
    EXPECT_FALSE(ParseDuration(bad)) << bad;
  }
}

TEST(UnitsTest, ReadsSizesWithUnitAndBytesWithout) {
  EXPECT_EQ(ParseSize("512B"), 512u);
  EXPECT_EQ(ParseSize("64KiB"), 65536u);
  EXPECT_EQ(ParseSize("0.5MiB"), 524288u);
  EXPECT_EQ(ParseSize("0"), 0u);
  EXPECT_EQ(ParseSize("4096"), 4096u);
  for (const char* bad : {"", "64.5", "2000000000000000", "64KB", "64kib",
                          "-1B", "9999999999GiB"}) {
    EXPECT_FALSE(ParseSize(bad)) << bad;
  }
}

TEST(UnitsTest, DurationsAreWrittenAsTheyAreRead) {
  for (const char* text : {"0", "1ns", "200ms", "1s", "90s", "2m", "24h"}) {
    EXPECT_EQ(DurationToText(*ParseDuration(text)), text);
  }
}

}  // namespace
}  // namespace gauntlet
