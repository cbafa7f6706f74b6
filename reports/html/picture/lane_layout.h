// Geometry of a picture of a run, in SVG units.
#ifndef GAUNTLET_REPORTS_HTML_PICTURE_LANE_LAYOUT_H_
#define GAUNTLET_REPORTS_HTML_PICTURE_LANE_LAYOUT_H_

#include <algorithm>
#include <cstddef>
#include <vector>

#include "reports/html/picture/time_axis.h"

namespace gauntlet {

struct PicturePoint {
  double x = 0;
  double y = 0;
};

struct LaneLayout {
  static constexpr double kNamesWidth = 92;
  static constexpr double kWidth = 1000;
  static constexpr double kMargin = 14;  // left and right of the time axis
  static constexpr double kAxisWidth = kWidth - 2 * kMargin;
  static constexpr double kCurveTop = 14;
  static constexpr double kCurveBottom = 100;
  static constexpr double kLanesTop = 116;
  static constexpr double kLaneHeight = 42;
  static constexpr double kBarTop = 8;  // from the top of a lane
  static constexpr double kBarHeight = 22;
  // Distance from a bar down to the number of its incarnation.
  static constexpr double kNumberBelow = 9;
  static constexpr double kAxisHeight = 46;  // below the lanes

  std::vector<int> emitters;  // emitters of the lanes, from the top; ascending

  bool HasLane(int emitter) const {
    return std::ranges::binary_search(emitters, emitter);
  }
  // REQUIRES: HasLane(emitter).
  double LaneTop(int emitter) const {
    const auto lane = std::ranges::lower_bound(emitters, emitter);
    return kLanesTop +
           kLaneHeight * static_cast<double>(lane - emitters.begin());
  }
  double BarTop(int emitter) const { return LaneTop(emitter) + kBarTop; }
  // Returns the y coordinate of the marks of faults, above the bar, so that
  // they hide no other mark.
  double FaultLine(int emitter) const { return BarTop(emitter) - 3; }
  double BarCentre(int emitter) const {
    return BarTop(emitter) + kBarHeight / 2;
  }
  // Returns the y coordinate of the saves in a bar, below the marks.
  double SaveLine(int emitter) const {
    return BarTop(emitter) + kBarHeight - 6;
  }
  double LanesBottom() const {
    return kLanesTop + kLaneHeight * static_cast<double>(emitters.size());
  }
  double Height() const { return LanesBottom() + kAxisHeight; }
};

inline double PlaceOf(const TimeAxis& axis, int64_t t_ns) {
  return LaneLayout::kMargin + axis.At(t_ns);
}

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_HTML_PICTURE_LANE_LAYOUT_H_
