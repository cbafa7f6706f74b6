#include "reports/html/picture/swim_lane.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/text/counted.h"
#include "harness/record/base_name.h"
#include "harness/record/checkpoint_loss.h"
#include "reports/events/process_spans.h"
#include "reports/html/page/page.h"
#include "reports/html/page/text.h"
#include "reports/html/picture/lane_layout.h"
#include "reports/html/picture/lane_marks.h"
#include "reports/html/picture/symbols.h"
#include "reports/html/picture/time_axis.h"
#include "reports/html/picture/training_position.h"
#include "reports/timeline.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

constexpr double kLabelHeight = 13;
constexpr double kReferenceLabelWidth = 260;

struct PictureArea {
  double left = 0;
  double top = 0;
  double right = 0;
  double bottom = 0;
};

// Maximum share of the time axis to which times between marks are stretched.
constexpr double kShareOfMarks = 0.7;

std::vector<int> EmittersOf(const Record& record) {
  std::set<int> emitters;
  for (const IncarnationEvents& incarnation : record.incarnations) {
    if (!incarnation.events.empty()) emitters.insert(incarnation.worker);
  }
  return {emitters.begin(), emitters.end()};
}

TimeAxis AxisOf(const Record& record,
                const std::vector<ProcessSpan>& processes) {
  std::vector<int64_t> times;
  for (const IncarnationEvents& incarnation : record.incarnations) {
    for (const RecordEvent& event : incarnation.events)
      times.push_back(event.t_ns);
  }
  for (size_t i = 0; i < processes.size(); ++i) {
    if (!record.incarnations[i].events.empty())
      times.push_back(processes[i].end_ns);
  }
  TimeAxisOptions options = {.width = LaneLayout::kAxisWidth,
                             .apart = TimesOfMarks(record)};
  // With many marks, each gets less space.
  const double room = kShareOfMarks * options.width /
                      static_cast<double>(options.apart.size() + 1);
  options.least_apart = std::min(options.least_apart, room);
  return TimeAxis(std::move(times), options);
}

// Returns a symbol with a tooltip.
std::string Symbol(std::string_view id, const PicturePoint& at,
                   std::string_view text) {
  return fmt::format(
      R"(<use href="#{}" x="{:.1f}" y="{:.1f}"><title>{}</title></use>)", id,
      at.x, at.y, HtmlText(text));
}

std::string SaveText(const SaveSpan& save) {
  switch (save.state) {
    case SaveSpan::State::kCommitted:
      return fmt::format("checkpoint of step {} acknowledged after {}",
                         save.step, DurationText(save.end_ns - save.begin_ns));
    case SaveSpan::State::kFailed:
      return fmt::format("save of step {} failed after {}", save.step,
                         DurationText(save.end_ns - save.begin_ns));
    case SaveSpan::State::kCutShort:
      return fmt::format("save of step {} started, not acknowledged",
                         save.step);
  }
  return "";
}

std::string LossText(const LostCheckpoint& lost) {
  if (lost.is_gone) return ", but lost: nothing of it remained";
  return fmt::format(", but invalid: {}", lost.reason);
}

class SwimLanePicture {
 public:
  SwimLanePicture(const Record& record, const SwimLaneOptions& options)
      : record_(WithLaunchers(record)),
        options_(options),
        processes_(ProcessSpansOf(record_)),
        axis_(AxisOf(record_, processes_)),
        segments_(TrainingSegmentsOf(record_)) {
    layout_.emitters = EmittersOf(record_);
    if (layout_.emitters.size() > options_.most_lanes) {
      hidden_lanes_ = layout_.emitters.size() - options_.most_lanes;
      layout_.emitters.resize(options_.most_lanes);
    }
    for (const TrainingSegment& segment : segments_) {
      last_step_ = std::max(last_step_, segment.points.back().step);
    }
    if (!record_.golden.entries.empty()) {
      reference_end_ = record_.golden.entries.back().step;
    }
    for (const LostCheckpoint& one : LostCheckpointsOf(record_)) {
      lost_.emplace(one.name, one);
    }
    for (const IncarnationEvents& incarnation : record_.incarnations) {
      for (const RecordEvent& event : incarnation.events) {
        if (event.kind == RecordKind::kSaveAcknowledged) {
          saved_as_[event.step].emplace(BaseName(event.path));
        }
        if (event.kind == RecordKind::kRetired) {
          deleted_.emplace(BaseName(event.path), event.t_ns);
        }
      }
    }
    for (size_t i = 0; i < record_.incarnations.size(); ++i) {
      saves_.push_back(SavesOf(record_.incarnations[i], processes_[i].end_ns));
      for (const SaveSpan& save : saves_.back()) {
        last_step_ = std::max(last_step_, save.step);
      }
    }
  }

  bool empty() const { return layout_.emitters.empty(); }

  std::string Figure() const {
    std::string out = fmt::format(
        "<figure class=\"swim\">{}<div class=\"picture\">", kScrollHint);
    out += Names();
    out += fmt::format(
        R"(<div class="scroll" tabindex="0" role="group" aria-label="picture of the run"><svg class="run" role="img" aria-labelledby="{0}-title {0}-desc" viewBox="0 0 {1:.0f} {2:.0f}"><title id="{0}-title">{3}</title><desc id="{0}-desc">{4}</desc>)",
        options_.id, LaneLayout::kWidth, layout_.Height(),
        HtmlText("Timeline of " + record_.case_name), HtmlText(Description()));
    out += Gaps() + Grid() + Curve() + Bars();
    const LaneMarks marks(record_, axis_, layout_);
    out += marks.Arrows() + marks.Marks() + TimeLabels();
    out += "</svg></div></div>\n<figcaption>" + RenderLegend(out) + Caption();
    return out + "</figcaption></figure>\n";
  }

 private:
  double X(int64_t t_ns) const { return PlaceOf(axis_, t_ns); }
  double StepY(uint64_t step) const {
    const double share = last_step_ == 0 ? 0
                                         : static_cast<double>(step) /
                                               static_cast<double>(last_step_);
    return LaneLayout::kCurveBottom -
           share * (LaneLayout::kCurveBottom - LaneLayout::kCurveTop);
  }
  std::set<uint64_t> StepTicks() const {
    // The ticks include the reference run's last step if the run goes beyond
    // it.
    return {0, IsBeyondReference() ? reference_end_ : last_step_ / 2,
            last_step_};
  }
  bool IsBeyondReference() const {
    return reference_end_ > 0 && last_step_ > reference_end_;
  }

  // Returns the symbol at the end of a committed save.
  std::string CommittedSymbol(const IncarnationEvents& incarnation,
                              const SaveSpan& save,
                              const PicturePoint& at) const {
    const std::string name(
        save.end ? BaseName(incarnation.events[*save.end].path) : "");
    const auto lost = lost_.find(name);
    const bool is_lost = lost != lost_.end();
    std::string text = SaveText(save);
    if (is_lost) text += LossText(lost->second);
    if (const auto deleted = deleted_.find(name); deleted != deleted_.end()) {
      text += fmt::format(", deleted at {}",
                          DurationText(deleted->second - axis_.begin_ns()));
    }
    if (!is_lost) return Symbol(kCommittedSymbol, at, text);
    return Symbol(lost->second.is_gone ? kLostSymbol : kInvalidSymbol, at,
                  text);
  }

  // Returns the saves that were committed, in the order of their ends.
  std::vector<SaveSpan> CommittedSaves() const {
    std::vector<SaveSpan> committed;
    for (const std::vector<SaveSpan>& saves : saves_) {
      std::ranges::copy_if(saves, std::back_inserter(committed),
                           [](const SaveSpan& save) {
                             return save.state == SaveSpan::State::kCommitted;
                           });
    }
    std::ranges::stable_sort(committed, {}, &SaveSpan::end_ns);
    return committed;
  }

  // Returns " Checkpoints acknowledged: step 5; after the resume from step 5:
  // steps 10, 15."; "" if none was acknowledged.
  std::string CommittedText() const {
    std::vector<std::string> parts;
    const std::vector<SaveSpan> committed = CommittedSaves();
    auto save = committed.begin();
    for (size_t i = 0; i <= segments_.size(); ++i) {
      const int64_t until_ns =
          i < segments_.size() ? segments_[i].points.front().t_ns : INT64_MAX;
      std::vector<uint64_t> steps;
      for (; save != committed.end() &&
             (save->end_ns < until_ns || i == segments_.size());
           ++save) {
        // A save may write the same step again.
        if (steps.empty() || steps.back() != save->step)
          steps.push_back(save->step);
      }
      if (steps.empty()) continue;
      // The first segment (i is 1) begins the training: its saves follow no
      // resume.
      std::string after;
      if (i >= 2) {
        const uint64_t from = segments_[i - 1].points.front().step;
        after = from == 0
                    ? "after the restart from step 0: "
                    : fmt::format("after the resume from step {}: ", from);
      }
      parts.push_back(fmt::format("{}step{} {}", after,
                                  steps.size() == 1 ? "" : "s",
                                  fmt::join(steps, ", ")));
    }
    if (parts.empty()) return "";
    return fmt::format(" Checkpoints acknowledged: {}.",
                       fmt::join(parts, "; "));
  }

  // Returns "steps 4, 8": the steps of the checkpoints that are gone, or of
  // those that are invalid; "" if there are none. If such a step has several
  // checkpoints, returns names instead of steps.
  std::string LostSteps(bool is_gone) const {
    std::set<uint64_t> steps;
    std::vector<std::string> names;
    bool is_ambiguous = false;
    for (const auto& [name, lost] : lost_) {
      if (lost.is_gone != is_gone) continue;
      steps.insert(lost.step);
      names.push_back(name);
      const auto saved = saved_as_.find(lost.step);
      is_ambiguous |= saved != saved_as_.end() && saved->second.size() > 1;
    }
    if (names.empty()) return "";
    if (is_ambiguous) return fmt::format("{}", fmt::join(names, ", "));
    return fmt::format("step{} {}", steps.size() == 1 ? "" : "s",
                       fmt::join(steps, ", "));
  }

  // Returns " Of these, invalid: step 4; lost: steps 8, 12."; "" if there are
  // none.
  std::string LostText() const {
    std::vector<std::string> parts;
    if (const std::string invalid = LostSteps(false); !invalid.empty()) {
      parts.push_back("invalid: " + invalid);
    }
    if (const std::string gone = LostSteps(true); !gone.empty()) {
      parts.push_back("lost: " + gone);
    }
    return parts.empty()
               ? ""
               : fmt::format(" Of these, {}.", fmt::join(parts, "; "));
  }

  std::string Description() const {
    std::string text = fmt::format(
        "Training position and {} over {}; the last step is {}.",
        Counted(layout_.emitters.size(), "lane"),
        DurationText(axis_.end_ns() - axis_.begin_ns()), last_step_);
    text += CommittedText();
    text += LostText();
    std::set<uint64_t> deleted;
    for (const auto& [name, t_ns] : deleted_) {
      if (const auto step = StepInName(name)) deleted.insert(*step);
    }
    if (!deleted.empty()) {
      text += fmt::format(" Checkpoints deleted: steps {}.",
                          fmt::join(deleted, ", "));
    }
    for (const TrainingSegment& segment : segments_) {
      const uint64_t begin = segment.points.front().step;
      if (segment.recomputed_until <= begin) continue;
      text += segment.recomputed_until == begin + 1
                  ? fmt::format(" Step {} is recomputed.", begin + 1)
                  : fmt::format(" Steps {}-{} are recomputed.", begin + 1,
                                segment.recomputed_until);
    }
    return text;
  }

  // Returns the names of the lanes and the numbers of steps, next to the part
  // that scrolls.
  std::string Names() const {
    std::string out = fmt::format(
        R"(<svg class="names" aria-hidden="true" viewBox="0 0 {:.0f} {:.0f}"><text class="name" x="0" y="{:.0f}">step</text>)",
        LaneLayout::kNamesWidth, layout_.Height(), LaneLayout::kCurveTop + 4);
    for (const uint64_t step : StepTicks()) {
      out += fmt::format(
          R"(<text class="tick" text-anchor="end" x="{:.0f}" y="{:.1f}">{}</text>)",
          LaneLayout::kNamesWidth - 2, StepY(step) + 4, step);
    }
    for (const int emitter : layout_.emitters) {
      out += fmt::format(R"(<text class="name" x="0" y="{:.1f}">{}</text>)",
                         layout_.BarCentre(emitter) + 4, EmitterName(emitter));
    }
    return out + "</svg>";
  }

  std::string Gaps() const {
    std::string out;
    for (const IdleGap& gap : axis_.gaps()) {
      out += fmt::format(
          R"(<rect class="gap" x="{:.1f}" y="{:.0f}" width="{:.1f}" height="{:.0f}"><title>{} without an event, drawn shorter</title></rect>)",
          LaneLayout::kMargin + gap.begin, LaneLayout::kCurveTop - 6,
          gap.end - gap.begin,
          layout_.LanesBottom() - LaneLayout::kCurveTop + 6,
          DurationText(gap.duration_ns));
    }
    return out;
  }

  std::string Grid() const {
    std::string path;
    for (const uint64_t step : StepTicks()) {
      path += fmt::format("M0 {:.1f}H{:.0f}", StepY(step), LaneLayout::kWidth);
    }
    for (const int emitter : layout_.emitters) {
      path +=
          fmt::format("M0 {:.1f}H{:.0f}",
                      layout_.LaneTop(emitter) + LaneLayout::kLaneHeight - 1,
                      LaneLayout::kWidth);
    }
    std::string out =
        fmt::format(R"(<path class="grid" d="{}"/>)", path) + EpochLines();
    if (IsBeyondReference()) {
      const double y = StepY(reference_end_);
      out += fmt::format(
          R"(<path class="reference-end" d="M0 {0:.1f}H{1:.0f}"/><text class="tick" x="4" y="{2:.1f}">the reference run ends with step {3}</text>)",
          y, LaneLayout::kWidth, y - 4, reference_end_);
    }
    return out;
  }

  // Returns the place of a save on the curve.
  PicturePoint SavePlace(const SaveSpan& save) const {
    const bool committed = save.state == SaveSpan::State::kCommitted;
    return {X(committed ? save.end_ns : save.begin_ns), StepY(save.step)};
  }

  // Returns the rectangles that a label must not cover: around the curve,
  // around the saves on it, and around the label at the reference run's end.
  std::vector<PictureArea> CurveAreas() const {
    constexpr double kSymbol = 6;
    std::vector<PictureArea> areas;
    for (const TrainingSegment& segment : segments_) {
      const std::vector<PicturePoint> line =
          LinePoints(segment.points, 0, segment.points.size() - 1);
      for (size_t i = 1; i < line.size(); ++i) {
        areas.push_back({.left = line[i - 1].x,
                         .top = line[i].y,
                         .right = line[i].x,
                         .bottom = line[i - 1].y});
      }
    }
    for (const std::vector<SaveSpan>& saves : saves_) {
      for (const SaveSpan& save : saves) {
        if (save.state == SaveSpan::State::kFailed) continue;
        const auto [x, y] = SavePlace(save);
        areas.push_back({x - kSymbol, y - kSymbol, x + kSymbol, y + kSymbol});
      }
    }
    if (IsBeyondReference()) {
      const double y = StepY(reference_end_);
      areas.push_back({0, y - kLabelHeight, kReferenceLabelWidth, y});
    }
    return areas;
  }

  // Returns the left end of a label above a line at `y`, where it covers none
  // of the areas; nullopt if there is no such place.
  static std::optional<double> FreePlace(const std::vector<PictureArea>& areas,
                                         double y, double width) {
    constexpr double kApart = 25;
    constexpr double kRoom = 3;
    for (double x = 4; x + width <= LaneLayout::kWidth; x += kApart) {
      const bool is_free =
          std::ranges::none_of(areas, [x, y, width](const PictureArea& area) {
            return area.left < x + width + kRoom && area.right > x - kRoom &&
                   area.top < y && area.bottom > y - kLabelHeight;
          });
      if (is_free) return x;
    }
    return std::nullopt;
  }

  // Returns a line at the last step of each epoch, if there is space.
  std::string EpochLines() const {
    constexpr double kRoom = 13;
    const std::vector<PictureArea> areas = CurveAreas();
    std::string out;
    double drawn = LaneLayout::kCurveBottom;
    for (const GoldenEntry& entry : record_.golden.entries) {
      if (entry.kind != RecordKind::kEpochEnd) continue;
      const double y = StepY(entry.step);
      if (drawn - y < kRoom || y < LaneLayout::kCurveTop) continue;
      drawn = y;
      out += fmt::format(R"(<path class="epoch" d="M0 {:.1f}H{:.0f}"/>)", y,
                         LaneLayout::kWidth);
      const std::string label = fmt::format("end of epoch {}", entry.epoch + 1);
      if (const auto x = FreePlace(areas, y, LabelWidth(label))) {
        out +=
            fmt::format(R"(<text class="tick" x="{:.0f}" y="{:.1f}">{}</text>)",
                        *x, y - 3, label);
      }
    }
    return out;
  }

  // Returns the places of the points from `first` to `last`, without points
  // that would coincide.
  std::vector<PicturePoint> LinePoints(const std::vector<TrainingPoint>& points,
                                       size_t first, size_t last) const {
    std::vector<PicturePoint> line;
    for (size_t i = first; i <= last; ++i) {
      const double x = X(points[i].t_ns);
      if (i != first && i != last && x < line.back().x + 1) continue;
      line.push_back({x, StepY(points[i].step)});
    }
    return line;
  }

  std::string Line(const std::vector<TrainingPoint>& points, size_t first,
                   size_t last, std::string_view css_class) const {
    if (first >= last) return "";
    std::string path;
    for (const PicturePoint& at : LinePoints(points, first, last)) {
      path +=
          fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", at.x, at.y);
    }
    return fmt::format(R"(<path class="{}" d="{}"/>)", css_class, path);
  }

  std::string Curve() const {
    std::string out;
    for (const TrainingSegment& segment : segments_) {
      const std::vector<TrainingPoint>& points = segment.points;
      size_t end = 0;  // point of the last recomputed step
      while (end + 1 < points.size() &&
             points[end + 1].step <= segment.recomputed_until) {
        ++end;
      }
      out += Line(points, 0, end, "again");
      out += Line(points, end, points.size() - 1, "new");
    }
    return out + SavesOnCurve();
  }

  std::string SavesOnCurve() const {
    constexpr double kApart = 3;
    std::string out;
    PicturePoint last = {-kApart, 0};
    for (size_t i = 0; i < saves_.size(); ++i) {
      for (const SaveSpan& save : saves_[i]) {
        if (save.state == SaveSpan::State::kFailed) continue;
        const bool committed = save.state == SaveSpan::State::kCommitted;
        const PicturePoint at = SavePlace(save);
        if (std::abs(at.x - last.x) < kApart) continue;
        last = at;
        out += committed ? CommittedSymbol(record_.incarnations[i], save, at)
                         : Symbol(kStartedSymbol, at, SaveText(save));
      }
    }
    return out;
  }

  std::string Bars() const {
    std::string out;
    for (size_t i = 0; i < processes_.size(); ++i) {
      const IncarnationEvents& incarnation = record_.incarnations[i];
      if (incarnation.events.empty() || !layout_.HasLane(incarnation.worker))
        continue;
      out += Bar(incarnation, processes_[i]) + StepTicksOf(incarnation) +
             SavesInLane(incarnation, saves_[i]);
    }
    return out + EndMarks();
  }

  // REQUIRES: the end is not orderly.
  static std::string_view EndSymbol(ProcessEnd end) {
    if (end == ProcessEnd::kRunning) return kRunningSymbol;
    return end == ProcessEnd::kDeath ? kDiedSymbol : kErrorSymbol;
  }

  // Returns the symbols at the ends of processes. They are drawn above all
  // bars, as the next process may begin immediately.
  std::string EndMarks() const {
    std::string out;
    for (size_t i = 0; i < processes_.size(); ++i) {
      const IncarnationEvents& incarnation = record_.incarnations[i];
      const ProcessEnd end = processes_[i].end;
      if (incarnation.events.empty() || !layout_.HasLane(incarnation.worker) ||
          end == ProcessEnd::kOrderly) {
        continue;
      }
      out += Symbol(
          EndSymbol(end),
          {X(processes_[i].end_ns), layout_.BarCentre(incarnation.worker)},
          SpanText(incarnation, processes_[i]));
    }
    return out;
  }

  std::string SpanText(const IncarnationEvents& incarnation,
                       const ProcessSpan& one) const {
    return fmt::format("{}, incarnation {}: {} to {}, {}",
                       EmitterName(incarnation.worker), incarnation.number,
                       DurationText(one.begin_ns - axis_.begin_ns()),
                       DurationText(one.end_ns - axis_.begin_ns()), one.ending);
  }

  std::string Bar(const IncarnationEvents& incarnation,
                  const ProcessSpan& one) const {
    const double begin = X(one.begin_ns);
    const double end = X(one.end_ns);
    const double top = layout_.BarTop(incarnation.worker);
    const char* css_class = one.end == ProcessEnd::kDeath ? "bar died" : "bar";
    std::string out = fmt::format(
        R"(<rect class="{}" x="{:.1f}" y="{:.0f}" width="{:.1f}" height="{:.0f}" rx="3"><title>{}</title></rect>)",
        css_class, begin, top, std::max(2.0, end - begin),
        LaneLayout::kBarHeight, HtmlText(SpanText(incarnation, one)));
    constexpr double kRoomForNumber = 14;
    if (end - begin >= kRoomForNumber) {
      out += fmt::format(
          R"(<text class="number" x="{:.1f}" y="{:.0f}">{}</text>)", begin + 1,
          top + LaneLayout::kBarHeight + LaneLayout::kNumberBelow,
          incarnation.number);
    }
    return out;
  }

  std::string StepTicksOf(const IncarnationEvents& incarnation) const {
    constexpr double kApart = 1.5;
    constexpr int kHeight = 7;
    const double top = layout_.BarTop(incarnation.worker) + 3;
    std::string fresh;
    std::string again;
    double drawn = -kApart;
    for (const RecordEvent& event : incarnation.events) {
      if (event.kind != RecordKind::kStep) continue;
      const double x = X(event.t_ns);
      if (x < drawn + kApart) continue;
      drawn = x;
      (IsRecomputed(segments_, event) ? again : fresh) +=
          fmt::format("M{:.1f} {:.0f}v{}", x, top, kHeight);
    }
    std::string out;
    if (!fresh.empty()) {
      out += fmt::format(R"(<path class="step" d="{}"/>)", fresh);
    }
    if (!again.empty()) {
      out += fmt::format(R"(<path class="step-again" d="{}"/>)", again);
    }
    return out;
  }

  std::string SavesInLane(const IncarnationEvents& incarnation,
                          const std::vector<SaveSpan>& saves) const {
    constexpr double kApart = 6;
    constexpr double kLong = 10;
    const double y = layout_.SaveLine(incarnation.worker);
    std::string out;
    double drawn = -kApart;
    for (const SaveSpan& save : saves) {
      const double begin = X(save.begin_ns);
      const double end = X(save.end_ns);
      if (end < drawn + kApart) continue;
      drawn = end;
      const bool is_long = end - begin >= kLong;
      if (is_long) {
        out +=
            fmt::format(R"(<path class="saving" d="M{:.1f} {:.1f}H{:.1f}"/>)",
                        begin, y, end);
      }
      if (is_long || save.state == SaveSpan::State::kCutShort) {
        out += Symbol(kStartedSymbol, {begin, y}, SaveText(save));
      }
      if (save.state == SaveSpan::State::kCommitted) {
        out += CommittedSymbol(incarnation, save, {end, y});
      }
    }
    return out;
  }

  std::string TimeLabels() const {
    constexpr int kTicks = 9;
    constexpr double kRowHeight = 14;
    std::vector<AxisLabel> ticks;
    for (int i = 0; i <= kTicks; ++i) {
      const double x = LaneLayout::kAxisWidth * i / kTicks;
      if (axis_.IsInGap(x)) continue;
      ticks.push_back(
          {.x = LaneLayout::kMargin + x,
           .text = DurationText(axis_.TimeAt(x) - axis_.begin_ns())});
    }
    std::vector<AxisLabel> idle;
    for (const IdleGap& gap : axis_.gaps()) {
      idle.push_back({.x = LaneLayout::kMargin + (gap.begin + gap.end) / 2,
                      .text = DurationText(gap.duration_ns)});
    }
    std::string out;
    for (const AxisLabel& label :
         PlaceLabels(std::move(ticks), 1, LaneLayout::kWidth)) {
      out += Label(label, "tick", layout_.LanesBottom() + kRowHeight);
    }
    for (const AxisLabel& label :
         PlaceLabels(std::move(idle), 2, LaneLayout::kWidth)) {
      out += Label(label, "idle",
                   layout_.LanesBottom() + (label.row + 2) * kRowHeight);
    }
    return out;
  }

  static std::string Label(const AxisLabel& label, std::string_view css_class,
                           double y) {
    return fmt::format(
        R"(<text class="{}" text-anchor="middle" x="{:.1f}" y="{:.0f}">{}</text>)",
        css_class, label.x, y, label.text);
  }

  std::string Caption() const {
    std::string text =
        "Numbers below bars count incarnations, and ticks in them are steps. A "
        "process whose bar has a red border was killed or crashed. Arrows lead "
        "from causes to effects; further effects of the same kind have fainter "
        "ones. Time is not to scale: moments around faults are stretched";
    text += axis_.gaps().empty()
                ? "."
                : "; idle time is shaded, labelled and shortened.";
    const auto epoch_end = std::ranges::find(
        record_.golden.entries, RecordKind::kEpochEnd, &GoldenEntry::kind);
    if (epoch_end != record_.golden.entries.end()) {
      text +=
          fmt::format(" An epoch has {}.", Counted(epoch_end->step, "step"));
    }
    if (hidden_lanes_ > 0) {
      text += fmt::format(" {} not drawn.",
                          Counted(hidden_lanes_, "further worker"));
    }
    return fmt::format("<p class=\"muted\">{}</p>", text);
  }

  const Record record_;
  const SwimLaneOptions options_;
  const std::vector<ProcessSpan>
      processes_;  // by index in record_.incarnations
  const TimeAxis axis_;
  const std::vector<TrainingSegment> segments_;
  LaneLayout layout_;
  std::vector<std::vector<SaveSpan>>
      saves_;  // by index in record_.incarnations
  uint64_t last_step_ = 0;
  uint64_t reference_end_ = 0;  // last step of the reference run; 0: none
  std::map<std::string, LostCheckpoint> lost_;  // by name
  // Names of acknowledged checkpoints, by step.
  std::map<uint64_t, std::set<std::string>> saved_as_;
  // Times at which checkpoints were deleted, by name.
  std::map<std::string, int64_t> deleted_;
  size_t hidden_lanes_ = 0;
};

}  // namespace

std::string RenderSwimLane(const Record& record,
                           const SwimLaneOptions& options) {
  const SwimLanePicture picture(record, options);
  return picture.empty() ? "" : picture.Figure();
}

}  // namespace gauntlet
