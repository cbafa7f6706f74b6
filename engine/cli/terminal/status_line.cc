#include "engine/cli/terminal/status_line.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>

#include "engine/text/columns.h"
#include <fmt/format.h>

namespace gauntlet {

std::string CutToColumns(std::string_view text, size_t columns,
                         const TerminalStyle& style) {
  if (ColumnsOf(text) <= columns) return std::string(text);
  const std::string_view mark = style.utf8() ? "…" : "...";
  const size_t mark_columns = ColumnsOf(mark);
  if (columns <= mark_columns)
    return std::string(text.substr(0, BytesOf(text, columns)));
  return std::string(text.substr(0, BytesOf(text, columns - mark_columns))) +
         std::string(mark);
}

std::string ClockText(double seconds) {
  const auto whole = static_cast<uint64_t>(std::ceil(std::max(seconds, 0.0)));
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60,
                     whole % 60);
}

bool StatusLine::IsDue() const {
  return style_.animates() &&
         (!drawn_at_ || clock_.Now() - *drawn_at_ >= kRedrawEvery);
}

void StatusLine::Draw(std::string_view text) {
  if (!IsDue()) return;
  std::string line = CutToColumns(text, columns(), style_);
  if (line == shown_) return;
  out_ << kEraseLine << line << std::flush;
  drawn_at_ = clock_.Now();
  shown_ = std::move(line);
}

void StatusLine::Clear() {
  if (shown_.empty()) return;
  out_ << kEraseLine << std::flush;
  shown_.clear();
}

size_t StatusLine::columns() const {
  // Leaves the last column empty: a character there would move the cursor to
  // the next line.
  return static_cast<size_t>(std::max(style_.columns() - 1, 0));
}

}  // namespace gauntlet
