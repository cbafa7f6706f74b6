#include "engine/ckpt/format/repeated_name.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <fmt/format.h>

namespace gauntlet {
namespace {

RC_GTEST_PROP(FindRepeatedTest, FindsTheFirstOfThoseThatAreThereTwice,
              (const std::vector<std::string>& texts)) {
  const std::vector<std::string_view> names(texts.begin(), texts.end());
  std::vector<std::string_view> sorted = names;
  std::ranges::sort(sorted);
  const auto twice = std::ranges::adjacent_find(sorted);
  const auto found = FindRepeated(names);
  RC_CLASSIFY(found.has_value());
  RC_ASSERT(found.has_value() == (twice != sorted.end()));
  if (found) RC_ASSERT(*found == *twice);
}

TEST(FindRepeatedTest, OfManyNamesEachCounts) {
  std::vector<std::string> texts;
  for (int i = 0; i < 5000; ++i) texts.push_back(fmt::format("name/{}", i));
  std::vector<std::string_view> names(texts.begin(), texts.end());
  EXPECT_EQ(FindRepeated(names), std::nullopt);
  names.push_back(texts[17]);
  EXPECT_EQ(FindRepeated(names), texts[17]);
  names.push_back(texts[1]);
  EXPECT_EQ(FindRepeated(names), texts[1]);
}

}  // namespace
}  // namespace gauntlet
