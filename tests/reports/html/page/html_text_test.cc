#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/html/page/text.h"
#include "tests/reports/markup_check.h"

namespace gauntlet {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

TEST(HtmlTextTest, EscapesMarkupAndQuotes) {
  EXPECT_EQ(HtmlText("<a href=\"x\" id='y'>&"),
            "&lt;a href=&quot;x&quot; id=&#39;y&#39;&gt;&amp;");
}

TEST(HtmlTextTest, ReplacesControlCharactersAndBrokenUtf8) {
  EXPECT_EQ(HtmlText("a\nb\x01"
                     "c\x7f"),
            "a b\\x01c\\x7f");
  EXPECT_EQ(HtmlText("\xff"
                     "a\xc3"),
            "\xEF\xBF\xBD"
            "a\xEF\xBF\xBD");
  EXPECT_EQ(HtmlText("é µ …"), "é µ …");
}

TEST(HtmlTextTest, ReplacesDirectionMarks) {
  EXPECT_EQ(HtmlText("a\xE2\x80\xAE"
                     "b\xE2\x81\xA6"),
            "a\xEF\xBF\xBD"
            "b\xEF\xBF\xBD");
}

TEST(HtmlTextTest, HostileTextHasNoMarkup) {
  const std::string html = HtmlText(HostileText());
  for (const char* part : {"<", ">", "\"", "'"}) {
    EXPECT_THAT(html, Not(HasSubstr(part)));
  }
}

TEST(HtmlTextTest, ProseShowsTextBetweenBackticksAsCode) {
  const std::pair<const char*, const char*> cases[] = {
      {"run `gauntlet show <a>` or `b`",
       "run <code>gauntlet show &lt;a&gt;</code> or <code>b</code>"},
      {"a ` alone", "a ` alone"},
      {"`a` and ` alone", "<code>a</code> and ` alone"},
      {"none", "none"},
  };
  for (const auto& [text, html] : cases) EXPECT_EQ(ProseHtml(text), html);
}

TEST(HtmlTextTest, CutsLongTextBetweenCharacters) {
  EXPECT_EQ(HtmlText("abcdef", 6), "abcdef");
  EXPECT_EQ(HtmlText("abcdef", 3), "abc…");
  EXPECT_EQ(HtmlText("abéf", 3), "ab…");
  EXPECT_THAT(HtmlText(std::string(1'000'000, 'x')), EndsWith("xxx…"));
}

TEST(HtmlTextTest, JsonCannotEndItsElement) {
  EXPECT_EQ(JsonInHtml("[\"</script><!--\"]"),
            "[\"\\u003c/script>\\u003c!--\"]");
}

TEST(HtmlTextTest, DurationHasThreeDigits) {
  const std::pair<int64_t, const char*> cases[] = {
      {0, "0 s"},
      {850'000, "850 µs"},
      {999'900, "1 ms"},
      {12'500'000, "12.5 ms"},
      {999'700'000, "1 s"},
      {1'937'000'000, "1.94 s"},
      {125'000'000'000, "2 min 5 s"},
      {7'260'000'000'000, "2 h 1 min"},
  };
  for (const auto& [ns, text] : cases) EXPECT_EQ(DurationText(ns), text);
}

TEST(HtmlTextTest, GroupsDigitsByThousands) {
  EXPECT_EQ(GroupedCount(1, "case"), "1 case");
  EXPECT_EQ(GroupedCount(999, "case"), "999 cases");
  EXPECT_EQ(GroupedCount(1'234'567, "case"), "1,234,567 cases");
}

}  // namespace
}  // namespace gauntlet
