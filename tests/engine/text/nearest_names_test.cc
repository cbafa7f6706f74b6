#include "engine/text/nearest_names.h"

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

TEST(NearestNameTest, IsNotAnotherWord) {
  const std::vector<std::string> names = {"job", "use", "checkpoint"};
  EXPECT_EQ(NearestName("jop", names), "job");
  EXPECT_EQ(NearestName("foo", names), "");
  EXPECT_EQ(NearestName("chekcpoint", names), "checkpoint");
  EXPECT_EQ(NearestName("che", names), "checkpoint");
}

}  // namespace
}  // namespace gauntlet
