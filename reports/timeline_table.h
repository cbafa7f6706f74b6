// A timeline as text for a terminal.
//
//   row  time           worker 0            worker 1
//     5  1.204s  .-                         crash fires: crash worker 1 at …
//     6  1.310s  |>     detects a loss <5
//     7  1.420s  `>                         incarnation 2 starts <6
#ifndef GAUNTLET_REPORTS_TIMELINE_TABLE_H_
#define GAUNTLET_REPORTS_TIMELINE_TABLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "reports/terminal.h"
#include "reports/timeline.h"

namespace gauntlet {

enum class LineArt : uint8_t { kAscii, kUnicode };

struct TableStyle {
  int width = 80;  // characters in a line
  LineArt art = LineArt::kAscii;
  Colour colour = Colour::kOff;
  size_t most_lines = 0;  // in a cell; longer text ends in "..."; 0: all
};

// Returns the table. The arrows on the left connect a fault, or another first
// cause, with all its effects; "<5" after an event names the row that caused
// it. If the workers' columns would be too narrow, one column names the worker
// instead.
std::string RenderTimeline(const Timeline& timeline, const TableStyle& style);

// The lines of a table, each with its line end.
struct TimelineLines {
  std::string head;               // title and names of the columns
  std::vector<std::string> rows;  // by row of the timeline
  std::string ends;               // how the run and its launchers ended
};
// Returns the parts of RenderTimeline.
TimelineLines RenderTimelineLines(const Timeline& timeline,
                                  const TableStyle& style);

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_TIMELINE_TABLE_H_
