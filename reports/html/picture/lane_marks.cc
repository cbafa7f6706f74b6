#include "reports/html/picture/lane_marks.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "engine/text/counted.h"
#include "harness/record/fault_occurrence.h"
#include "reports/events/event_text.h"
#include "reports/html/page/text.h"
#include "reports/html/picture/symbols.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

constexpr double kMarkWidth = 9;
constexpr double kMarkRadius = 7;
constexpr size_t kMostArrows = 150;
constexpr size_t kMostPairs = 500;

bool IsRestartedProcess(const IncarnationEvents& incarnation,
                        const RecordEvent& event) {
  return event.kind == RecordKind::kWorkerStarted && incarnation.number > 1 &&
         incarnation.worker >= 0;
}

// Target of an arrow: a mark; nullopt: the start of a process.
using ArrowEnd = std::optional<Mark>;

std::string ArrowHead(const PicturePoint& tip, double angle) {
  constexpr double kLength = 6;
  constexpr double kSpread = 0.45;
  const auto corner = [&](double side) {
    return PicturePoint{tip.x - kLength * std::cos(angle + side),
                        tip.y - kLength * std::sin(angle + side)};
  };
  const PicturePoint a = corner(kSpread);
  const PicturePoint b = corner(-kSpread);
  return fmt::format("M{:.1f} {:.1f}L{:.1f} {:.1f}L{:.1f} {:.1f}", a.x, a.y,
                     tip.x, tip.y, b.x, b.y);
}

// Returns "" if there is no space for an arrow between the points.
std::string ArrowPath(const PicturePoint& from, const PicturePoint& to) {
  const double dx = to.x - from.x;
  const double dy = to.y - from.y;
  const double length = std::hypot(dx, dy);
  if (length < 2 * kMarkRadius + 4) return "";
  constexpr double kSteep = 60;
  if (dx < kSteep || std::abs(dy) < 1) {
    const double angle = std::atan2(dy, dx);
    const double ux = std::cos(angle) * kMarkRadius;
    const double uy = std::sin(angle) * kMarkRadius;
    const PicturePoint tip = {to.x - ux, to.y - uy};
    return fmt::format("M{:.1f} {:.1f}L{:.1f} {:.1f}", from.x + ux, from.y + uy,
                       tip.x, tip.y) +
           ArrowHead(tip, angle);
  }
  const PicturePoint tip = {to.x - kMarkRadius, to.y};
  const double begin = from.x + kMarkRadius;
  const double bend = (begin + tip.x) / 2;
  return fmt::format("M{:.1f} {:.1f}C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}",
                     begin, from.y, bend, from.y, bend, tip.y, tip.x, tip.y) +
         ArrowHead(tip, 0);
}

}  // namespace

std::vector<std::pair<int64_t, int64_t>> TimesOfMarks(const Record& record) {
  std::vector<std::pair<int64_t, int64_t>> pairs;
  std::optional<std::pair<int64_t, ArrowEnd>> last;
  for (const EventPlace& place : EventsByTime(record)) {
    const IncarnationEvents& incarnation = IncarnationOf(record, place);
    const RecordEvent& event = EventAt(record, place);
    const std::optional<Mark> mark = MarkOf(incarnation, event);
    if (!mark && !IsRestartedProcess(incarnation, event)) continue;
    if (last && last->second != mark && last->first < event.t_ns) {
      pairs.emplace_back(last->first, event.t_ns);
      if (pairs.size() == kMostPairs) break;
    }
    last = {event.t_ns, mark};
  }
  return pairs;
}

LaneMarks::LaneMarks(const Record& record, const TimeAxis& axis,
                     const LaneLayout& layout)
    : record_(record),
      axis_(axis),
      layout_(layout),
      order_(EventsByTime(record)),
      causes_(CausesOf(record)) {
  for (const EventPlace& place : order_) {
    const IncarnationEvents& incarnation = IncarnationOf(record_, place);
    if (!layout_.HasLane(incarnation.worker)) continue;
    const RecordEvent& event = EventAt(record_, place);
    if (const std::optional<Mark> mark = MarkOf(incarnation, event)) {
      AddMark(place, *mark);
    } else if (IsRestartedProcess(incarnation, event)) {
      points_[place] = {PlaceOf(axis_, event.t_ns),
                        layout_.BarCentre(incarnation.worker)};
    }
  }
}

double LaneMarks::MarkHeight(int emitter, const RecordEvent& event,
                             Mark mark) const {
  if (mark == Mark::kFault) return layout_.FaultLine(emitter);
  return event.kind == RecordKind::kSaveFailed ? layout_.SaveLine(emitter)
                                               : layout_.BarCentre(emitter);
}

void LaneMarks::AddMark(const EventPlace& place, Mark mark) {
  const IncarnationEvents& incarnation = IncarnationOf(record_, place);
  const RecordEvent& event = EventAt(record_, place);
  const double x = PlaceOf(axis_, event.t_ns);
  const auto newest = newest_.find({incarnation.worker, mark});
  if (newest != newest_.end() && drawn_[newest->second].at.x + kMarkWidth > x) {
    Drawn& other = drawn_[newest->second];
    AddEvent(incarnation, event, other);
    points_[place] = other.at;
    return;
  }
  const double y = MarkHeight(incarnation.worker, event, mark);
  newest_[{incarnation.worker, mark}] = drawn_.size();
  points_[place] = {x, y};
  drawn_.push_back({.mark = mark,
                    .at = {x, y},
                    .emitter = incarnation.worker,
                    .texts = {},
                    .faults = {}});
  AddEvent(incarnation, event, drawn_.back());
}

void LaneMarks::AddEvent(const IncarnationEvents& incarnation,
                         const RecordEvent& event, Drawn& drawn) const {
  constexpr size_t kMostTexts = 4;
  constexpr size_t kLongestText = 300;
  if (drawn.events++ < kMostTexts) {
    const std::string text =
        fmt::format("{}: {}", DurationText(event.t_ns - axis_.begin_ns()),
                    EventText(record_, incarnation, event));
    drawn.texts.push_back(CutText(text, kLongestText));
  }
  if (drawn.mark != Mark::kFault ||
      FindFault(record_, event.detail) == nullptr ||
      std::ranges::count(drawn.faults, event.detail) > 0) {
    return;
  }
  drawn.faults.push_back(event.detail);
}

std::string LaneMarks::FaultNames() const {
  constexpr size_t kLongestName = 32;
  constexpr double kAbove = 9;  // from a name beside its mark to one above it
  std::string out;
  std::map<int, double> taken;        // end of the newest name or mark, by lane
  std::map<int, double> taken_above;  // end of the newest name above the marks
  const auto add = [&out](double left, double y, const std::string& name) {
    out += fmt::format(
        R"(<text class="fault-name" x="{:.1f}" y="{:.1f}">{}</text>)", left, y,
        HtmlText(name));
  };
  for (auto drawn = drawn_.begin(); drawn != drawn_.end(); ++drawn) {
    if (drawn->faults.empty()) continue;
    std::string name = fmt::format("{}", fmt::join(drawn->faults, ", "));
    if (name.size() > kLongestName) {
      name = CutText(drawn->faults.front(), kLongestName);
      if (const size_t more = drawn->faults.size() - 1; more > 0) {
        name += fmt::format(" +{}", more);
      }
    }
    const double width = LabelWidth(name);
    const auto next =
        std::find_if(drawn + 1, drawn_.end(), [&drawn](const Drawn& other) {
          return other.mark == Mark::kFault && other.emitter == drawn->emitter;
        });
    const double limit =
        next == drawn_.end() ? LaneLayout::kWidth : next->at.x - kMarkWidth;
    double& end = taken[drawn->emitter];
    double left = drawn->at.x + kMarkWidth;
    if (left + width > limit) left = drawn->at.x - kMarkWidth - width;
    const double y = drawn->at.y + 3;
    double& end_above = taken_above[drawn->emitter];
    const double left_above =
        std::clamp(drawn->at.x - width / 2, 0.0, LaneLayout::kWidth - width);
    if (left >= end) {
      end = left + width;
      add(left, y, name);
    } else if (left_above >= end_above) {
      end_above = left_above + width;
      add(left_above, y - kAbove, name);
    }
    end = std::max(end, drawn->at.x + kMarkWidth);
  }
  return out;
}

std::string LaneMarks::Marks() const {
  std::string out;
  for (const Drawn& drawn : drawn_) {
    std::string text = fmt::format("{}", fmt::join(drawn.texts, "; "));
    if (const size_t more = drawn.events - drawn.texts.size(); more > 0) {
      text += fmt::format("; and {}", Counted(more, "more event"));
    }
    out += fmt::format(
        R"(<use href="#{}" x="{:.1f}" y="{:.1f}"><title>{}</title></use>)",
        SymbolOf(drawn.mark), drawn.at.x, drawn.at.y, HtmlText(text));
  }
  return out + FaultNames();
}

std::optional<EventPlace> LaneMarks::ShownCause(EventPlace place) const {
  for (auto cause = causes_.find(place); cause != causes_.end();
       cause = causes_.find(place)) {
    place = cause->second;
    if (points_.contains(place)) return place;
  }
  return std::nullopt;
}

std::string LaneMarks::Arrows() const {
  std::set<std::pair<EventPlace, ArrowEnd>> led_to;
  std::set<std::string> paths;
  std::string out;
  for (const EventPlace& effect : order_) {
    if (!points_.contains(effect) || paths.size() >= kMostArrows) continue;
    const std::optional<EventPlace> cause = ShownCause(effect);
    if (!cause) continue;
    PicturePoint from = points_.at(*cause);
    // A cause without a mark is the start of an incarnation: the arrow begins
    // inside its bar.
    if (!MarkOf(IncarnationOf(record_, *cause), EventAt(record_, *cause))) {
      from.x += kMarkWidth;
    }
    const std::string path = ArrowPath(from, points_.at(effect));
    if (path.empty() || !paths.insert(path).second) continue;
    const ArrowEnd end =
        MarkOf(IncarnationOf(record_, effect), EventAt(record_, effect));
    const bool is_first = led_to.emplace(*cause, end).second;
    out += fmt::format(R"(<path class="{}" d="{}"/>)",
                       is_first ? "arrow" : "arrow further", path);
  }
  return out;
}

}  // namespace gauntlet
