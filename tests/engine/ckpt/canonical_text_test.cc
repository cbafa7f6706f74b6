// The quick ways of reading what this program wrote, beside the plain ones.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "engine/ckpt/json_unescape.h"
#include "engine/ckpt/name_list.h"
#include "engine/ckpt/repeated_name.h"
#include "engine/ckpt/shard_plan.h"
#include "engine/job/plain_text.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

struct Unescaped {
  std::string text;
  size_t size = 0;
  bool operator==(const Unescaped&) const = default;
};

std::optional<Unescaped> CharacterByCharacter(std::string_view text) {
  Unescaped out;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '"') {
      out.size = i + 1;
      return out;
    }
    if (c == '\\') {
      if (++i == text.size()) return std::nullopt;
      c = text[i];
      if (c != '"' && c != '\\') return std::nullopt;
    }
    if (!IsPrintable(c)) return std::nullopt;
    out.text += c;
  }
  return std::nullopt;
}

std::optional<Unescaped> InBlocks(std::string_view text) {
  Unescaped out;
  const auto size = UnescapeString(text, out.text);
  if (!size) return std::nullopt;
  out.size = *size;
  return out;
}

TEST(UnescapeStringTest, TakesOffEscapesUpToTheClosingQuote) {
  EXPECT_EQ(InBlocks(R"({\"a\":1}", "b")"), (Unescaped{R"({"a":1})", 10}));
  EXPECT_EQ(InBlocks(R"(")"), (Unescaped{"", 1}));
  EXPECT_EQ(InBlocks(R"(\\\\")"), (Unescaped{R"(\\)", 5}));
  EXPECT_EQ(InBlocks(R"(\\")"), (Unescaped{R"(\)", 3}));
}

TEST(UnescapeStringTest, RefusesWhatDoesNotEndAndOtherCharactersAndEscapes) {
  for (const char* const text :
       {"", "a", "\\\"", "\\", "a\\n\"", "a\nb\"", "\x7f\"", "\xc3\xa9\""}) {
    EXPECT_EQ(InBlocks(text), std::nullopt) << text;
  }
  EXPECT_EQ(InBlocks(std::string("a\0\"", 3)), std::nullopt);
  EXPECT_EQ(InBlocks("a\"\n"), (Unescaped{"a", 2}));
}

// Everything that can stand at the border of two blocks.
TEST(UnescapeStringTest, GoesOnFromBlockToBlock) {
  for (size_t before = 56; before < 72; ++before) {
    for (const char* const end :
         {"\"", "\\\"\"", "\\\\\"", "\\\\\\\"\"", "\\\\\\\\\"", "\n\"", "\\x\"",
          "\\", "\\\\", ""}) {
      const std::string text = std::string(before, 'a') + end;
      EXPECT_EQ(InBlocks(text), CharacterByCharacter(text)) << text;
      const std::string more = text + std::string(70, 'b') + '"';
      EXPECT_EQ(InBlocks(more), CharacterByCharacter(more)) << more;
    }
  }
}

RC_GTEST_PROP(UnescapeStringTest, DoesAsCharacterByCharacter, ()) {
  const auto pieces = *rc::gen::container<std::vector<std::string>>(
      rc::gen::weightedElement<std::string>({{40, "a"},
                                             {20, "\\\""},
                                             {10, "\\\\"},
                                             {5, "longer than sixteen letters"},
                                             {1, "\""},
                                             {1, "\\"},
                                             {1, "\n"},
                                             {1, "\xc3"}}));
  std::string text;
  for (const std::string& piece : pieces) text += piece;
  RC_ASSERT(InBlocks(text) == CharacterByCharacter(text));
  RC_ASSERT(InBlocks(text + '"') == CharacterByCharacter(text + '"'));
}

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

RC_GTEST_PROP(NameOrderTest, IsTheByteOrderOfTheNames, ()) {
  const auto texts = *rc::gen::unique<std::vector<std::string>>(
      rc::gen::container<std::string>(
          rc::gen::element('a', 'b', '/', '\0', '\xff')));
  std::vector<TensorView> tensors;
  for (const std::string& text : texts) tensors.push_back({.name = text});
  const std::vector<size_t> order = NameOrder(tensors);
  RC_ASSERT(order.size() == tensors.size());
  for (size_t i = 1; i < order.size(); ++i) {
    RC_ASSERT(texts[order[i - 1]] < texts[order[i]]);
  }
}

}  // namespace
}  // namespace gauntlet
