#include "reports/html/picture/time_axis.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace gauntlet {
namespace {

// Maximum share of the width for one gap.
constexpr double kLargestShare = 1.0 / 16;
// A gap is idle if it is this many times longer than the longest gap drawn to
// scale.
constexpr double kIdleFactor = 2;

std::vector<double> Differences(std::span<const int64_t> times) {
  std::vector<double> gaps;
  for (size_t i = 1; i < times.size(); ++i) {
    gaps.push_back(static_cast<double>(times[i] - times[i - 1]));
  }
  return gaps;
}

// Returns the length to which longer gaps are shortened: kLargestShare of the
// sum of all gaps after the shortening. For n < 2 / kLargestShare gaps, it is
// 2 / n of that sum.
double ShortenedLength(const std::vector<double>& gaps) {
  if (gaps.empty()) return 0;
  const double target =
      std::min(1 / kLargestShare, static_cast<double>(gaps.size()) / 2);
  double low = 0;
  double high = *std::ranges::max_element(gaps);
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    double sum = 0;
    for (const double gap : gaps) sum += std::min(gap / middle, 1.0);
    (sum > target ? low : high) = middle;
  }
  return high;
}

double Sum(std::span<const double> numbers) {
  double sum = 0;
  for (const double number : numbers) sum += number;
  return sum;
}

size_t IndexOf(std::span<const int64_t> times, int64_t t_ns) {
  const auto at = std::ranges::lower_bound(times, t_ns);
  return static_cast<size_t>(at - times.begin());
}

// Increases the distance between pairs of times that would be drawn too close.
void Stretch(std::span<const int64_t> times, const TimeAxisOptions& options,
             std::vector<double>& lengths) {
  constexpr int kPasses = 3;
  for (int pass = 0; pass < kPasses; ++pass) {
    const double scale = options.width / Sum(lengths);
    for (const auto& [from, to] : options.apart) {
      const size_t first = IndexOf(times, from);
      const size_t last = std::min(IndexOf(times, to), times.size() - 1);
      if (first >= last) continue;
      const std::span<double> between(lengths.data() + first, last - first);
      const double drawn = Sum(between) * scale;
      if (drawn <= 0 || drawn >= options.least_apart) continue;
      for (double& length : between) length *= options.least_apart / drawn;
    }
  }
}

}  // namespace

TimeAxis::TimeAxis(std::vector<int64_t> times_ns,
                   const TimeAxisOptions& options)
    : times_(std::move(times_ns)) {
  if (times_.empty()) times_.push_back(0);
  std::ranges::sort(times_);
  times_.erase(std::unique(times_.begin(), times_.end()), times_.end());

  std::vector<double> lengths = Differences(times_);
  const double shortened = ShortenedLength(lengths);
  std::vector<size_t> idle;
  for (size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] <= kIdleFactor * shortened) continue;
    lengths[i] = shortened;
    idle.push_back(i);
  }
  Stretch(times_, options, lengths);
  const double scale = lengths.empty() ? 0 : options.width / Sum(lengths);
  places_.push_back(0);
  for (const double length : lengths) {
    places_.push_back(places_.back() + length * scale);
  }
  for (const size_t i : idle) {
    gaps_.push_back({.begin = places_[i],
                     .end = places_[i + 1],
                     .duration_ns = times_[i + 1] - times_[i]});
  }
}

double TimeAxis::At(int64_t t_ns) const {
  if (t_ns <= times_.front()) return places_.front();
  if (t_ns >= times_.back()) return places_.back();
  const size_t after = IndexOf(times_, t_ns);
  const double share = static_cast<double>(t_ns - times_[after - 1]) /
                       static_cast<double>(times_[after] - times_[after - 1]);
  return places_[after - 1] + share * (places_[after] - places_[after - 1]);
}

int64_t TimeAxis::TimeAt(double x) const {
  if (x <= places_.front()) return times_.front();
  if (x >= places_.back()) return times_.back();
  const auto at = std::ranges::lower_bound(places_, x);
  const auto after = static_cast<size_t>(at - places_.begin());
  const double length = places_[after] - places_[after - 1];
  const double share = length > 0 ? (x - places_[after - 1]) / length : 0;
  const auto step = static_cast<double>(times_[after] - times_[after - 1]);
  return times_[after - 1] + static_cast<int64_t>(share * step);
}

bool TimeAxis::IsInGap(double x) const {
  return std::ranges::any_of(
      gaps_, [x](const IdleGap& gap) { return x > gap.begin && x < gap.end; });
}

double LabelWidth(const std::string& text) {
  constexpr double kCharacter = 6.6;
  const auto characters =
      std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; });
  return kCharacter * static_cast<double>(characters);
}

std::vector<AxisLabel> PlaceLabels(std::vector<AxisLabel> labels, int rows,
                                   double width) {
  constexpr double kSpace = 6;
  std::ranges::stable_sort(labels, {}, &AxisLabel::x);
  std::vector<double> ends(static_cast<size_t>(rows), -kSpace);
  std::vector<AxisLabel> placed;
  for (AxisLabel& label : labels) {
    const double half = LabelWidth(label.text) / 2;
    label.x = std::clamp(label.x, half, std::max(half, width - half));
    const auto row = std::ranges::find_if(
        ends, [&](double end) { return end + kSpace <= label.x - half; });
    if (row == ends.end()) continue;
    *row = label.x + half;
    label.row = static_cast<int>(row - ends.begin());
    placed.push_back(std::move(label));
  }
  return placed;
}

}  // namespace gauntlet
