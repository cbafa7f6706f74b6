#include "reports/timeline_table.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/text/columns.h"
#include "reports/events/event_text.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

constexpr size_t kNarrowestColumn = 14;
constexpr size_t kNarrowestText = 24;  // if one column has all texts
constexpr size_t kMostLanes = 4;
constexpr size_t kGap = 2;

struct Glyphs {
  std::string_view begin, pass, effect, last, across, cross, head, cause;
};
constexpr Glyphs kAsciiGlyphs = {".", "|", "|", "`", "-", "+", ">", "<"};
constexpr Glyphs kUnicodeGlyphs = {"┌", "│", "├", "└", "─", "┼", "▶", "←"};

const Glyphs& GlyphsOf(LineArt art) {
  return art == LineArt::kUnicode ? kUnicodeGlyphs : kAsciiGlyphs;
}

std::string Padded(std::string text, size_t width) {
  const size_t now = ColumnsOf(text);
  if (now < width) text.append(width - now, ' ');
  return text;
}

std::string ForTerminal(std::string_view text, LineArt art) {
  std::string plain = PlainText(text);
  if (art == LineArt::kUnicode) return plain;
  std::string ascii;
  for (const char c : plain) {
    if (!IsContinuation(c)) ascii += static_cast<signed char>(c) < 0 ? '?' : c;
  }
  return ascii;
}

// Places the arrows of each incident (a first cause with all its effects) in a
// lane, from the incident's first row to its last.
class Incidents {
 public:
  explicit Incidents(const std::vector<TimelineRow>& rows) {
    std::vector<size_t> roots(rows.size());
    for (size_t i = 0; i < rows.size(); ++i) {
      const size_t cause = FirstCauseOf(rows[i]);
      roots[i] = cause == 0 ? i : roots[cause - 1];
      if (cause != 0) last_[roots[i]] = i;
    }
    roots_ = std::move(roots);
    for (const auto& [root, last] : last_) PlaceLane(root);
  }

  size_t lanes() const { return lanes_; }

  // Returns the arrows before row i, lanes() + 1 characters.
  std::string Arrows(size_t i, const Glyphs& glyphs) const {
    std::string text;
    bool across = false;
    for (size_t lane = 0; lane < lanes_; ++lane) {
      const auto root = RootIn(lane, i);
      const bool is_here = root && *root == roots_[i];
      if (is_here) {
        text += i == *root             ? glyphs.begin
                : i == last_.at(*root) ? glyphs.last
                                       : glyphs.effect;
        across = true;
      } else if (root) {
        text += across ? glyphs.cross : glyphs.pass;
      } else {
        text += across ? glyphs.across : " ";
      }
    }
    if (!across) return text + " ";
    text += roots_[i] == i ? glyphs.across : glyphs.head;
    return text;
  }

  // Returns the arrows before the continuation lines of row i.
  std::string ArrowsBelow(size_t i, const Glyphs& glyphs) const {
    std::string text;
    for (size_t lane = 0; lane < lanes_; ++lane) {
      const auto root = RootIn(lane, i);
      text += root && last_.at(*root) > i ? glyphs.pass : " ";
    }
    return text + " ";
  }

 private:
  static size_t FirstCauseOf(const TimelineRow& row) {
    size_t first = 0;
    for (const TimelineCell& cell : row.cells) {
      if (cell.cause != 0 && (first == 0 || cell.cause < first)) {
        first = cell.cause;
      }
    }
    return first;
  }

  void PlaceLane(size_t root) {
    for (size_t lane = 0; lane < kMostLanes; ++lane) {
      size_t& free_from = free_from_[lane];
      if (free_from > root) continue;
      free_from = last_.at(root) + 1;
      in_lane_[lane].push_back(root);
      lanes_ = std::max(lanes_, lane + 1);
      return;
    }
  }

  std::optional<size_t> RootIn(size_t lane, size_t i) const {
    for (const size_t root : in_lane_[lane]) {
      if (root <= i && i <= last_.at(root)) return root;
    }
    return std::nullopt;
  }

  std::vector<size_t> roots_;      // first row of its incident, by row
  std::map<size_t, size_t> last_;  // last row of an incident, by its first row
  size_t free_from_[kMostLanes] = {};
  std::vector<size_t> in_lane_[kMostLanes];
  size_t lanes_ = 0;
};

class TableWriter {
 public:
  TableWriter(const Timeline& timeline, const TableStyle& style)
      : timeline_(timeline),
        style_(style),
        glyphs_(GlyphsOf(style.art)),
        incidents_(timeline.rows) {
    number_width_ =
        std::max<size_t>(3, std::to_string(timeline.rows.size()).size());
    for (const TimelineRow& row : timeline.rows) {
      time_width_ = std::max(time_width_, TimeSinceBegin(row.t_ns).size());
    }
    const size_t left = LeftWidth();
    const size_t all = static_cast<size_t>(std::max(style.width, 1));
    const size_t rest = all > left ? all - left : 0;
    const size_t columns = std::max<size_t>(timeline.columns.size(), 1);
    // The last column has no gap after it.
    column_width_ = (rest + kGap) / columns;
    column_width_ -= std::min(column_width_, kGap);
    by_worker_ = column_width_ >= kNarrowestColumn;
    if (!by_worker_) MeasureNames();
    const size_t names = by_worker_ ? 0 : name_width_ + kGap;
    text_width_ = std::max(kNarrowestText, rest - std::min(rest, names));
  }

  TimelineLines Write() {
    TimelineLines lines;
    AddParagraph(timeline_.title);
    if (!timeline_.rows.empty()) AddHead();
    lines.head = std::exchange(out_, "");
    for (size_t i = 0; i < timeline_.rows.size(); ++i) {
      AddRow(i);
      lines.rows.push_back(std::exchange(out_, ""));
    }
    for (const std::string& end : timeline_.ends) AddParagraph(end);
    lines.ends = std::exchange(out_, "");
    return lines;
  }

 private:
  // Text at a position in a row, and its width.
  struct Block {
    size_t at = 0;
    size_t width = 0;
    std::vector<std::string> lines;
  };

  size_t LeftWidth() const {
    return number_width_ + kGap + time_width_ + kGap + incidents_.lanes() + 2;
  }

  void MeasureNames() {
    name_width_ = std::string_view("worker").size();
    for (const int worker : timeline_.columns) {
      name_width_ = std::max(name_width_, EmitterName(worker).size());
    }
  }

  std::string Left(std::string_view number, std::string_view time,
                   std::string_view arrows) const {
    return fmt::format("{:>{}}{:{}}{:>{}}{:{}}{} ", number, number_width_, "",
                       kGap, time, time_width_, "", kGap, arrows);
  }

  void AddParagraph(const std::string& text) {
    for (std::string& line :
         Wrapped(ForTerminal(text, style_.art),
                 static_cast<size_t>(std::max(style_.width, 1)))) {
      AddLine(std::move(line), RowTone::kPlain);
    }
  }

  void AddHead() {
    std::string line =
        Left("row", "time", std::string(incidents_.lanes() + 1, ' '));
    if (by_worker_) {
      for (const int worker : timeline_.columns) {
        line += Padded(EmitterName(worker), column_width_ + kGap);
      }
    } else {
      line += Padded("worker", name_width_ + kGap) + "event";
    }
    AddLine(std::move(line), RowTone::kPlain);
  }

  // Returns the lines of the cell's text and its cause, cut to most_lines.
  std::vector<std::string> LinesOf(const TimelineCell& cell,
                                   size_t width) const {
    const std::string cause =
        cell.cause == 0 ? "" : fmt::format(" {}{}", glyphs_.cause, cell.cause);
    const std::string text = ForTerminal(cell.text, style_.art);
    std::vector<std::string> lines = Wrapped(text + cause, width);
    if (style_.most_lines == 0 || lines.size() <= style_.most_lines) {
      return lines;
    }
    // The last line is filled with the words that follow, and then cut.
    const auto last =
        lines.begin() + static_cast<ptrdiff_t>(style_.most_lines) - 1;
    std::string rest = fmt::format("{}", fmt::join(last, lines.end(), " "));
    const std::string end = "..." + cause;
    const size_t room = width - std::min(width, ColumnsOf(end));
    rest.resize(BytesOf(rest, room));
    rest.erase(rest.find_last_not_of(' ') + 1);
    lines.erase(last, lines.end());
    lines.push_back(rest + end);
    return lines;
  }

  // Returns the texts of a row; each may extend over empty columns to its
  // right.
  std::vector<Block> BlocksByWorker(const TimelineRow& row) const {
    std::vector<Block> blocks;
    for (size_t i = 0; i < row.cells.size(); ++i) {
      const size_t column = ColumnOf(row.cells[i].worker);
      const size_t next = i + 1 < row.cells.size()
                              ? ColumnOf(row.cells[i + 1].worker)
                              : timeline_.columns.size();
      const size_t width = (next - column) * (column_width_ + kGap) - kGap;
      blocks.push_back({.at = column * (column_width_ + kGap),
                        .width = width,
                        .lines = LinesOf(row.cells[i], width)});
    }
    return blocks;
  }

  size_t ColumnOf(int worker) const {
    return static_cast<size_t>(
        std::ranges::lower_bound(timeline_.columns, worker) -
        timeline_.columns.begin());
  }

  std::vector<Block> BlocksOfCell(const TimelineCell& cell) const {
    return {
        {.at = 0, .width = name_width_, .lines = {EmitterName(cell.worker)}},
        {.at = name_width_ + kGap,
         .width = text_width_,
         .lines = LinesOf(cell, text_width_)}};
  }

  void AddRow(size_t i) {
    const TimelineRow& row = timeline_.rows[i];
    const std::string first =
        Left(std::to_string(row.number), TimeSinceBegin(row.t_ns),
             incidents_.Arrows(i, glyphs_));
    const std::string below = Left("", "", incidents_.ArrowsBelow(i, glyphs_));
    if (by_worker_) {
      AddBlocks(BlocksByWorker(row), {first, below}, row.tone);
      return;
    }
    for (size_t c = 0; c < row.cells.size(); ++c) {
      AddBlocks(BlocksOfCell(row.cells[c]), {c == 0 ? first : below, below},
                row.tone);
    }
  }

  void AddBlocks(const std::vector<Block>& blocks,
                 const std::pair<std::string, std::string>& left,
                 RowTone tone) {
    size_t lines = 0;
    for (const Block& block : blocks) {
      lines = std::max(lines, block.lines.size());
    }
    for (size_t i = 0; i < lines; ++i) {
      std::string text;
      for (const Block& block : blocks) {
        text = Padded(std::move(text), block.at);
        if (i < block.lines.size()) text += block.lines[i];
      }
      AddLine((i == 0 ? left.first : left.second) + text, tone);
    }
  }

  void AddLine(std::string line, RowTone tone) {
    line.erase(line.find_last_not_of(' ') + 1);
    const char* ink = InkOf(tone);
    out_ += style_.colour == Colour::kOn && ink != nullptr
                ? fmt::format("\x1b[{}m{}\x1b[0m\n", ink, line)
                : line + "\n";
  }

  static const char* InkOf(RowTone tone) {
    switch (tone) {
      case RowTone::kRoutine:
        return "2";  // faint
      case RowTone::kPlain:
        return nullptr;
      case RowTone::kFault:
        return "1;31";
      case RowTone::kDetection:
        return "33";
      case RowTone::kRecovery:
        return "32";
    }
    return nullptr;
  }

  const Timeline& timeline_;
  const TableStyle& style_;
  const Glyphs& glyphs_;
  const Incidents incidents_;
  size_t number_width_ = 0;
  size_t time_width_ = 4;
  bool by_worker_ = true;
  size_t column_width_ = 0;  // if by_worker_
  size_t name_width_ = 0;    // if not by_worker_
  size_t text_width_ = 0;    // if not by_worker_
  std::string out_;
};

}  // namespace

TimelineLines RenderTimelineLines(const Timeline& timeline,
                                  const TableStyle& style) {
  return TableWriter(timeline, style).Write();
}

std::string RenderTimeline(const Timeline& timeline, const TableStyle& style) {
  const TimelineLines lines = RenderTimelineLines(timeline, style);
  std::string out = lines.head;
  for (const std::string& row : lines.rows) out += row;
  return out + lines.ends;
}

}  // namespace gauntlet
