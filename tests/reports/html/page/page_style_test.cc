#include <algorithm>
#include <cmath>
#include <map>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/html/page/page.h"

namespace gauntlet {
namespace {

using Palette = std::map<std::string, std::string>;

// Adds the colours of `css`, such as "--text: #1c2024", to `palette` and
// replaces those with the same names.
Palette WithColours(const std::string& css, Palette palette) {
  static const std::regex kColour("--([a-z0-9-]+): *#([0-9a-f]{3,6});");
  for (std::sregex_iterator it(css.begin(), css.end(), kColour), end; it != end;
       ++it) {
    palette[(*it)[1]] = (*it)[2];
  }
  return palette;
}

struct Theme {
  std::string name;
  Palette colours;
};

// The light theme and the dark one.
std::vector<Theme> Themes() {
  const std::string css(kPageStyle);
  const size_t dark = css.find("@media (prefers-color-scheme: dark)");
  const size_t rules = css.find("\n}\n", dark);
  const Palette light = WithColours(css.substr(0, dark), {});
  return {{"light", light},
          {"dark", WithColours(css.substr(dark, rules - dark), light)}};
}

// The relative luminance of a colour "rgb" or "rrggbb", 0 to 1: WCAG 2.2,
// "relative luminance".
double Luminance(std::string colour) {
  if (colour.size() == 3) {
    colour = {colour[0], colour[0], colour[1], colour[1], colour[2], colour[2]};
  }
  auto linear = [&](size_t at) {
    const double value = std::stoi(colour.substr(at, 2), nullptr, 16) / 255.0;
    return value <= 0.04045 ? value / 12.92
                            : std::pow((value + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(0) + 0.7152 * linear(2) + 0.0722 * linear(4);
}

// The contrast ratio of two colours, 1 to 21: WCAG 2.2, "contrast ratio".
double Contrast(const std::string& a, const std::string& b) {
  const auto [dark, light] = std::minmax({Luminance(a), Luminance(b)});
  return (light + 0.05) / (dark + 0.05);
}

TEST(PageStyleTest, TextContrastsWithItsBackground) {
  EXPECT_NEAR(Contrast("000", "ffffff"), 21, 1e-9);
  for (const Theme& theme : Themes()) {
    const Palette& colours = theme.colours;
    std::vector<std::pair<std::string, std::string>> pairs = {
        {"text", "bar"},
        {"text", "gap"},
        {"text", "s1"},
        {"text", "s2"},
        {"s3-text", "s3"}};
    for (const char* background : {"page", "card"}) {
      for (const char* text : {"text", "muted", "link", "good", "bad", "unsure",
                               "skip", "flaky"}) {
        pairs.emplace_back(text, background);
      }
    }
    for (const auto& [text, background] : pairs) {
      EXPECT_GE(Contrast(colours.at(text), colours.at(background)), 4.5)
          << theme.name << ": " << text << " on " << background;
    }
    // Rule .s4 writes in black.
    EXPECT_GE(Contrast("000", colours.at("s4")), 4.5) << theme.name;
  }
}

TEST(PageStyleTest, MarksAndFocusContrastWithTheirBackground) {
  for (const Theme& theme : Themes()) {
    for (const char* background : {"page", "card", "bar"}) {
      for (const char* mark :
           {"step", "again", "restart", "notice", "arrow", "focus"}) {
        EXPECT_GE(
            Contrast(theme.colours.at(mark), theme.colours.at(background)), 3)
            << theme.name << ": " << mark << " on " << background;
      }
    }
  }
}

TEST(PageStyleTest, FocusIsVisible) {
  const std::string css(kPageStyle);
  EXPECT_THAT(css, testing::HasSubstr(
                       ":focus-visible { outline: 2px solid var(--focus)"));
  EXPECT_THAT(css, testing::Not(testing::HasSubstr("outline: none")));
  EXPECT_THAT(css, testing::Not(testing::HasSubstr("outline: 0")));
}

}  // namespace
}  // namespace gauntlet
