#include "engine/text/columns.h"

#include <cstddef>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gauntlet {
namespace {

using testing::ElementsAre;

TEST(ColumnsTest, BreaksBetweenWords_HoweverManySpacesThereAre) {
  EXPECT_THAT(Wrapped("one  two", 3), ElementsAre("one", "two"));
  EXPECT_THAT(Wrapped("one  two", 4), ElementsAre("one", "two"));
  EXPECT_THAT(Wrapped("a\u00e9b twenty", 4),
              ElementsAre("a\u00e9b", "twen", "ty"));
}

TEST(ColumnsTest, BreaksNothing_IfTheTextFitsInOneLine) {
  EXPECT_THAT(Wrapped("", 3), ElementsAre(""));
  EXPECT_THAT(Wrapped("\u00e9\u00e9\u00e9", 3),
              ElementsAre("\u00e9\u00e9\u00e9"));
  EXPECT_THAT(Wrapped("abc ", 3), ElementsAre("abc", ""));
}

// This test takes minutes if each line needs a pass over the rest of the text.
TEST(ColumnsTest, WrapsMegabytesInOnePass) {
  constexpr size_t kLines = 400'000;
  EXPECT_EQ(Wrapped(std::string(kLines * 10, 'a'), 10).size(), kLines);
}

}  // namespace
}  // namespace gauntlet
