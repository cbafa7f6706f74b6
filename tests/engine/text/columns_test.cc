#include "engine/text/columns.h"

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

}  // namespace
}  // namespace gauntlet
