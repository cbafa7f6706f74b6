// Unescaping, compared with a reader that goes character by character.
#include "engine/ckpt/format/json_unescape.h"

#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "engine/job/plain_text.h"

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

// Covers everything that can cross the border of two blocks.
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

// Text after the string in the same file takes no memory.
TEST(UnescapeStringTest, TakesAsMuchMemoryAsTheStringHas) {
  const std::string text = "\\\\short\"" + std::string(1 << 20, ' ');
  std::string out;
  ASSERT_TRUE(UnescapeString(text, out).has_value());
  EXPECT_EQ(out, "\\short");
  EXPECT_LT(out.capacity(), 1000u);
}

}  // namespace
}  // namespace gauntlet
