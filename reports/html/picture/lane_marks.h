// Draws the marks in the lanes of a picture of a run, and the arrows between
// them.
#ifndef GAUNTLET_REPORTS_HTML_PICTURE_LANE_MARKS_H_
#define GAUNTLET_REPORTS_HTML_PICTURE_LANE_MARKS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/record/record.h"
#include "reports/events/causes.h"
#include "reports/html/picture/lane_layout.h"
#include "reports/html/picture/lanes.h"

namespace gauntlet {

// Returns the two times of each pair of consecutive marks of different kinds,
// such as a fault and its detection. A restarted process's start counts as a
// mark.
std::vector<std::pair<int64_t, int64_t>> TimesOfMarks(const Record& record);

class LaneMarks {
 public:
  // `record` includes launchers (WithLaunchers). Keeps references to all three
  // arguments.
  LaneMarks(const Record& record, const TimeAxis& axis,
            const LaneLayout& layout);

  // Returns the marks. Marks of the same kind that would overlap in a lane are
  // drawn as one.
  std::string Marks() const;
  // Returns arrows from the mark of each cause to those of its effects. The
  // first effect of each kind is emphasised.
  std::string Arrows() const;

 private:
  struct Drawn {
    Mark mark = Mark::kFault;
    PicturePoint at;
    std::string text;
    size_t events = 1;
  };

  void AddMark(const EventPlace& place, Mark mark);
  // Returns the y coordinate of a mark. Faults are above the bar, so that
  // they hide no other mark. Failed saves are on the line of the saves.
  double MarkHeight(int emitter, const RecordEvent& event, Mark mark) const;
  // Returns the nearest cause that the picture shows.
  std::optional<EventPlace> ShownCause(EventPlace place) const;

  const Record& record_;
  const TimeAxis& axis_;
  const LaneLayout& layout_;
  const std::vector<EventPlace> order_;
  const std::map<EventPlace, EventPlace> causes_;
  std::vector<Drawn> drawn_;
  // Index into drawn_ of the newest mark, by lane and mark.
  std::map<std::pair<int, Mark>, size_t> newest_;
  std::map<EventPlace, PicturePoint> points_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_HTML_PICTURE_LANE_MARKS_H_
