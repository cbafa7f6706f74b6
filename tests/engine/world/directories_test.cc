#include "engine/world/directories.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/utf8.h"

namespace gauntlet {
namespace {

using testing::HasSubstr;

TEST(DirectoriesTest, PathIsShortTextInUtf8) {
  const std::pair<std::string, std::string> cases[] = {
      {"run-\xe9", "in UTF-8, found 'run-\\xe9'"},
      {"line\nend", "without control characters, found 'line\\x0aend'"},
      {std::string("a\0b", 3), "without control characters, found 'a\\x00b'"},
      {"\x7f", "without control characters, found '\\x7f'"},
      {std::string(3841, 'x'), "of at most 3840 bytes, found 'xxx"},
      {"a/" + std::string(256, 'x') + "/b",
       "whose names have at most 255 bytes each, found 'a/xxx"}};
  for (const auto& [path, message] : cases) {
    EXPECT_EQ(CheckPath(path).code(), Code::kInvalidArgument) << message;
    EXPECT_THAT(CheckPath(path).message(),
                HasSubstr("expected a path " + message));
  }
  EXPECT_TRUE(CheckPath("/a b/ü€😀").ok());
  std::string longest;
  for (int i = 0; i < 15; ++i) longest += std::string(255, 'x') + "/";
  EXPECT_EQ(longest.size(), 3840u);
  EXPECT_TRUE(CheckPath(longest).ok());
}

// JSON would replace other bytes, so two names of directories could become one.
TEST(Utf8Test, AcceptsOnlyTheShortestFormOfEachCharacter) {
  for (const char* text :
       {"", "ü", "€", "😀", "\xed\x9f\xbf", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_TRUE(IsUtf8(text)) << text;
  }
  for (const char* text :
       {"\x80", "\xc3", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xe2\x82",
        "\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff"}) {
    EXPECT_FALSE(IsUtf8(text)) << EscapeBytes(text);
  }
}

TEST(Utf8Test, EscapesCharactersThatDistortTheTextAroundThem) {
  EXPECT_EQ(EscapeBytes("a b/ü€😀"), "a b/ü€😀");
  EXPECT_EQ(EscapeBytes("\x1b[31m\n\x7f"), "\\x1b[31m\\x0a\\x7f");
  EXPECT_EQ(EscapeBytes("é\xc2\x9b"), "é\\xc2\\x9b");
  EXPECT_EQ(EscapeBytes("a\u202eb\u2066"), "a\\xe2\\x80\\xaeb\\xe2\\x81\\xa6");
  EXPECT_EQ(EscapeBytes("€\xff\xc2z"), "\\xe2\\x82\\xac\\xff\\xc2z");
}

}  // namespace
}  // namespace gauntlet
