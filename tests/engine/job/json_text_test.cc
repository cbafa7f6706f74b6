#include "engine/job/json_text.h"

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

std::string Quoted(std::string_view text) {
  return JsonText().String(text).Take();
}

// The bytes of stored checkpoints, and so their digests, depend on this.
TEST(JsonTextTest, EscapesOnlyQuotesBackslashesAndControlCharacters) {
  using namespace std::literals;
  const std::vector<std::pair<std::string_view, std::string_view>> cases = {
      {"", R"("")"},
      {"plain / text", R"("plain / text")"},
      {R"(a "quoted" back\slash)", R"("a \"quoted\" back\\slash")"},
      {"line\nend\t", R"("line\nend\t")"},
      {"\0 and \x1f"sv, R"("\u0000 and \u001f")"},
      {"caf\xc3\xa9 ~ \x7f", "\"caf\xc3\xa9 ~ \x7f\""}};
  for (const auto& [text, quoted] : cases) {
    EXPECT_EQ(Quoted(text), quoted);
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
