#include "engine/ckpt/format/name_list.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

TEST(NameListTest, HoldsNamesInTheirOrder) {
  NameList names = {"one", "", "three"};
  names.push_back("four");
  EXPECT_EQ(names.size(), 4u);
  EXPECT_EQ(std::vector<std::string>(names.begin(), names.end()),
            (std::vector<std::string>{"one", "", "three", "four"}));
  EXPECT_EQ(std::ranges::find(names, "three"), NameList::Iterator(names, 2));
  EXPECT_TRUE(NameList().empty());
}

TEST(NameListTest, AreTheSameWhereNamesAre) {
  EXPECT_EQ((NameList{"ab", "c"}), (NameList{"ab", "c"}));
  EXPECT_NE((NameList{"ab", "c"}), (NameList{"a", "bc"}));
  EXPECT_NE((NameList{"ab"}), (NameList{"ab", ""}));
}

}  // namespace
}  // namespace gauntlet
