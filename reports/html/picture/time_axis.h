// Horizontal axis of a picture of a run: maps times to positions.
#ifndef GAUNTLET_REPORTS_HTML_PICTURE_TIME_AXIS_H_
#define GAUNTLET_REPORTS_HTML_PICTURE_TIME_AXIS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace gauntlet {

// A time without events from any process, drawn shorter than to scale.
struct IdleGap {
  double begin = 0;
  double end = 0;
  int64_t duration_ns = 0;
};

struct TimeAxisOptions {
  double width = 1000;
  // Pairs of times, ascending. The two times of a pair are drawn at least
  // `least_apart` from each other if there is space.
  std::vector<std::pair<int64_t, int64_t>> apart;
  double least_apart = 26;
};

// Maps times to positions, not to scale: idle gaps are shortened, moments with
// many events stretched. Later times have greater positions.
class TimeAxis {
 public:
  // `times_ns`: times of all events, in any order.
  TimeAxis(std::vector<int64_t> times_ns, const TimeAxisOptions& options);

  // Returns a position in 0..width. Times before the first or after the last
  // event map to the ends.
  double At(int64_t t_ns) const;
  // Returns the time at a position.
  int64_t TimeAt(double x) const;
  bool IsInGap(double x) const;
  const std::vector<IdleGap>& gaps() const { return gaps_; }
  int64_t begin_ns() const { return times_.front(); }
  int64_t end_ns() const { return times_.back(); }

 private:
  std::vector<int64_t> times_;  // ascending, distinct, not empty
  std::vector<double> places_;  // by index into times_
  std::vector<IdleGap> gaps_;
};

// A text centred at `x`.
struct AxisLabel {
  double x = 0;
  std::string text;
  int row = 0;
};

// Places each label in the first row in which it overlaps no earlier label, and
// returns the labels that fit into a row. The text stays within 0..width.
std::vector<AxisLabel> PlaceLabels(std::vector<AxisLabel> labels, int rows,
                                   double width);

// Returns an upper bound on the width of a label's text.
double LabelWidth(const std::string& text);

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_HTML_PICTURE_TIME_AXIS_H_
