// One line of a terminal that is rewritten in place.
#ifndef GAUNTLET_ENGINE_CLI_TERMINAL_STATUS_LINE_H_
#define GAUNTLET_ENGINE_CLI_TERMINAL_STATUS_LINE_H_

#include <chrono>
#include <cstddef>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

#include "engine/cli/terminal/terminal_style.h"
#include "engine/world/clock.h"

namespace gauntlet {

// Minimum time between two drawings of a line.
inline constexpr Duration kRedrawEvery = std::chrono::milliseconds(100);
// Erases the line and returns to its beginning.
inline constexpr std::string_view kEraseLine = "\r\x1b[K";

// Returns the text, or its beginning and "…" ("..." where the terminal does not
// take UTF-8), in at most `columns`; each character counts as one column.
std::string CutToColumns(std::string_view text, size_t columns,
                         const TerminalStyle& style);

// Returns "0:41" or "1:02:03", rounded up to seconds.
std::string ClockText(double seconds);

// Writes nothing if `style` does not animate. Not thread-safe.
class StatusLine {
 public:
  StatusLine(const Clock& clock, std::ostream& out, const TerminalStyle& style)
      : clock_(clock), out_(out), style_(style) {}

  // Returns true iff Draw would write: at most ten times a second.
  bool IsDue() const;
  // Replaces the line with `text`, cut to the width of the terminal. Does
  // nothing if IsDue is false or the text is already shown.
  void Draw(std::string_view text);
  // Removes the line. Call it before anything else is written.
  void Clear();
  // Returns the maximum number of columns of a text.
  size_t columns() const;

 private:
  const Clock& clock_;
  std::ostream& out_;
  const TerminalStyle style_;
  std::optional<Time> drawn_at_;
  std::string shown_;  // empty: no line is shown
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CLI_TERMINAL_STATUS_LINE_H_
