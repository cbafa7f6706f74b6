// Clauses of one sentence.
#include "harness/record/text/joined_texts.h"

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

TEST(JoinedTextsTest, EmptyTextsAreLeftOut) {
  EXPECT_EQ(JoinedTexts({"", "a", "", "b", ""}), "a; b");
  EXPECT_EQ(JoinedTexts({"", ""}), "");
}

}  // namespace
}  // namespace gauntlet
