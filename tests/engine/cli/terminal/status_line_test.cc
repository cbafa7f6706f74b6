#include "engine/cli/terminal/status_line.h"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/cli/terminal/set_clock.h"

namespace gauntlet {
namespace {

using std::chrono::milliseconds;

TerminalStyle Terminal(int columns) {
  return {ColorChoice::kOff,
          {.is_terminal = true, .utf8 = true, .columns = columns}};
}

TEST(CutToColumnsTest, MarksTheCut) {
  const TerminalStyle ascii(ColorChoice::kOff, {.is_terminal = true});
  EXPECT_EQ(CutToColumns("abcdef", 6, ascii), "abcdef");
  EXPECT_EQ(CutToColumns("abcdefg", 6, ascii), "abc...");
  EXPECT_EQ(CutToColumns("abcdefg", 6, Terminal(80)), "abcde…");
  EXPECT_EQ(CutToColumns("äöüß", 3, Terminal(80)), "äö…");
  EXPECT_EQ(CutToColumns("abc", 1, ascii), "a");
  EXPECT_EQ(CutToColumns("abc", 0, ascii), "");
}

TEST(ClockTextTest, RoundsUp) {
  EXPECT_EQ(ClockText(0), "0:00");
  EXPECT_EQ(ClockText(40.2), "0:41");
  EXPECT_EQ(ClockText(3599), "59:59");
  EXPECT_EQ(ClockText(3723), "1:02:03");
}

TEST(StatusLineTest, IsRedrawnAtMostTenTimesASecond) {
  SetClock clock;
  std::ostringstream out;
  StatusLine line(clock, out, Terminal(80));
  line.Draw("a");
  clock.now += milliseconds(99);
  line.Draw("b");
  EXPECT_EQ(out.str(), "\r\x1b[Ka");
  clock.now += milliseconds(1);
  line.Draw("b");
  EXPECT_EQ(out.str(), "\r\x1b[Ka\r\x1b[Kb");
}

TEST(StatusLineTest, TextThatIsThereAlreadyIsNotDrawnAgain) {
  SetClock clock;
  std::ostringstream out;
  StatusLine line(clock, out, Terminal(80));
  line.Draw("a");
  clock.now += milliseconds(500);
  line.Draw("a");
  EXPECT_EQ(out.str(), "\r\x1b[Ka");
}

TEST(StatusLineTest, IsCutBeforeTheLastColumn) {
  SetClock clock;
  std::ostringstream out;
  StatusLine line(clock, out, Terminal(5));
  line.Draw("abcdef");
  EXPECT_EQ(out.str(), "\r\x1b[Kabc…");
}

TEST(StatusLineTest, ClearsOnce) {
  SetClock clock;
  std::ostringstream out;
  StatusLine line(clock, out, Terminal(80));
  line.Clear();
  EXPECT_EQ(out.str(), "");
  line.Draw("a");
  line.Clear();
  line.Clear();
  EXPECT_EQ(out.str(), "\r\x1b[Ka\r\x1b[K");
}

TEST(StatusLineTest, WritesNothing_WithoutATerminal) {
  SetClock clock;
  std::ostringstream out;
  StatusLine line(clock, out, TerminalStyle(ColorChoice::kOff, {}));
  EXPECT_FALSE(line.IsDue());
  line.Draw("a");
  line.Clear();
  EXPECT_EQ(out.str(), "");
}

}  // namespace
}  // namespace gauntlet
