#include "engine/cli/terminal/terminal_style.h"

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

constexpr TerminalFacts kTerminal = {.is_terminal = true};
constexpr TerminalFacts kFile = {};
constexpr TerminalFacts kNoColor = {.is_terminal = true, .no_color = true};
constexpr TerminalFacts kDumb = {.is_terminal = true, .is_dumb = true};

struct Case {
  ColorChoice choice;
  TerminalFacts facts;
  bool colored;
};

TEST(TerminalStyleTest, ColorsOnlyATerminalThatWantsThem) {
  for (const auto& [choice, facts, colored] :
       {Case{ColorChoice::kAuto, kTerminal, true},
        Case{ColorChoice::kAuto, kFile, false},
        Case{ColorChoice::kAuto, kNoColor, false},
        Case{ColorChoice::kAuto, kDumb, false},
        Case{ColorChoice::kOn, kFile, true},
        Case{ColorChoice::kOn, kNoColor, true},
        Case{ColorChoice::kOff, kTerminal, false}}) {
    const TerminalStyle style(choice, facts);
    EXPECT_EQ(style.Paint(Ink::kGood, "ok"),
              colored ? "\x1b[32mok\x1b[0m" : "ok");
  }
}

TEST(TerminalStyleTest, LinesAreRewrittenOnlyOnATerminalThatCan) {
  EXPECT_TRUE(TerminalStyle(ColorChoice::kAuto, kTerminal).animates());
  EXPECT_TRUE(TerminalStyle(ColorChoice::kOff, kTerminal).animates());
  EXPECT_FALSE(TerminalStyle(ColorChoice::kOn, kFile).animates());
  EXPECT_FALSE(TerminalStyle(ColorChoice::kOn, kDumb).animates());
}

TEST(TerminalStyleTest, TextIsWrappedOnlyOnATerminal) {
  const TerminalFacts narrow = {.is_terminal = true, .columns = 40};
  EXPECT_EQ(TerminalStyle(ColorChoice::kAuto, narrow).wrap_columns(), 40U);
  EXPECT_EQ(TerminalStyle(ColorChoice::kOn, kFile).wrap_columns(), 0U);
}

}  // namespace
}  // namespace gauntlet
