// Lists of numbers in sentences.
#include "harness/record/text/number_list.h"

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

struct ListCase {
  std::set<uint64_t> numbers;
  const char* text;
};

TEST(NumberListTest, ConsecutiveNumbersBecomeARange) {
  const ListCase kCases[] = {{{}, ""},
                             {{7}, "7"},
                             {{1, 2}, "1 and 2"},
                             {{1, 2, 3}, "1 to 3"},
                             {{4, 8, 12}, "4, 8 and 12"},
                             {{1, 2, 3, 4, 5, 13}, "1 to 5 and 13"},
                             {{1, 2, 5, 6, 7}, "1, 2 and 5 to 7"}};
  for (const auto& [numbers, text] : kCases) {
    EXPECT_EQ(NumberListText(numbers), text);
  }
}

TEST(NumberListTest, NounHasTheNumberOfTheList) {
  EXPECT_EQ(NumberedText("attempt", {3}), "attempt 3");
  EXPECT_EQ(NumberedText("attempt", {3, 4, 5}), "attempts 3 to 5");
}

}  // namespace
}  // namespace gauntlet
