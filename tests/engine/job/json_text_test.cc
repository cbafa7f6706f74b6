#include "engine/job/json_text.h"

#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

#include "engine/job/plain_text.h"
#include <nlohmann/json.hpp>

namespace gauntlet {
namespace {

std::string Quoted(std::string_view text) {
  return JsonText().String(text).Take();
}

TEST(JsonTextTest, WritesStringsAsTheLibraryDoes) {
  using namespace std::literals;
  for (const std::string_view text :
       {""sv, "plain"sv, "a \"quoted\" back\\slash"sv, "\"\\"sv, "line\nend"sv,
        "\0 and \x1f"sv, "caf\xc3\xa9"sv, "~ \x7f"sv}) {
    EXPECT_EQ(Quoted(text), nlohmann::json(text).dump()) << text;
  }
}

// Tries each character at each place of a word, alone and followed by another.
TEST(PlainTextTest, EndsAtTheFirstCharacterThatIsNotPlain) {
  for (int value = 0; value < 256; ++value) {
    const char c = static_cast<char>(value);
    for (size_t at = 0; at < 20; ++at) {
      std::string text(20, 'a');
      text[at] = c;
      const size_t length = IsPlain(c) ? text.size() : at;
      EXPECT_EQ(PlainLength(text), length) << value << " at " << at;
      for (size_t behind = at + 1; behind < text.size(); ++behind) {
        for (const char other : {'"', '\\', '\x1f', '\x80', '~', '#', '['}) {
          std::string two = text;
          two[behind] = other;
          const size_t first =
              !IsPlain(c) ? at : (IsPlain(other) ? two.size() : behind);
          ASSERT_EQ(PlainLength(two), first) << value << " at " << at;
        }
      }
    }
  }
}

TEST(JsonTextTest, WritesNumbersOfAnySize) {
  JsonText json;
  json.Number(0).Raw(" ").Number(std::numeric_limits<uint64_t>::max());
  json.Raw(" ").Number(std::numeric_limits<int64_t>::min());
  EXPECT_EQ(json.text(), "0 18446744073709551615 -9223372036854775808");
}

TEST(JsonTextTest, PutsPlainTextBetweenQuotes) {
  EXPECT_EQ(JsonText().PlainString("plain").Take(), Quoted("plain"));
}

TEST(JsonTextTest, WritesRawTextAsItIs) {
  EXPECT_EQ(JsonText().Raw("{\n\"").Raw("\":1}").Take(), "{\n\"\":1}");
}

}  // namespace
}  // namespace gauntlet
