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

  // Returns the marks, faults with their names. Marks of the same kind that
  // would overlap in a lane are drawn as one.
  std::string Marks() const;
  // Returns arrows from the mark of each cause to those of its effects. The
  // first effect of each kind is emphasised.
  std::string Arrows() const;

 private:
  struct Drawn {
    Mark mark = Mark::kFault;
    PicturePoint at;
    int emitter = 0;
    std::vector<std::string> texts;   // of the first events
    std::vector<std::string> faults;  // ids of a Mark::kFault, each once
    size_t events = 0;
  };

  void AddMark(const EventPlace& place, Mark mark);
  // Adds the event, and its fault if it has one.
  void AddEvent(const IncarnationEvents& incarnation, const RecordEvent& event,
                Drawn& drawn) const;
  // Returns the names of the faults beside their marks; above the mark if there
  // is no space beside it; left out if neither fits. A mark of two faults has
  // "flip, rot", or "flip +1" if their names are long.
  std::string FaultNames() const;
  // Returns the y coordinate of a mark. Failed saves are on the line of the
  // saves.
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
