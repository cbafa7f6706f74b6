#include "reports/bench/xy_plot.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "reports/html/page/text.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr double kWidth = 480;
constexpr double kHeight = 260;
constexpr double kLeft = 74;  // space for the labels of the y axis
constexpr double kRight = 18;
constexpr double kTop = 12;
constexpr double kBottom = 42;
constexpr int kTicks = 4;

// Maps the values of one axis to positions in the picture.
class Axis {
 public:
  Axis(PlotAxis kind, double low, double high, double from, double to)
      : kind_(kind), from_(from), to_(to) {
    low_ = Scaled(low);
    high_ = Scaled(high);
    if (high_ <= low_) {
      // Centres a single value.
      low_ -= 1;
      high_ += 1;
    }
  }

  double At(double value) const {
    const double part =
        std::clamp((Scaled(value) - low_) / (high_ - low_), 0.0, 1.0);
    return from_ + part * (to_ - from_);
  }
  std::vector<double> Ticks() const {
    std::vector<double> ticks;
    for (int i = 0; i <= kTicks; ++i) {
      const double scaled = low_ + (high_ - low_) * i / kTicks;
      ticks.push_back(kind_ == PlotAxis::kLogarithmic ? std::exp(scaled)
                                                      : scaled);
    }
    return ticks;
  }

 private:
  double Scaled(double value) const {
    return kind_ == PlotAxis::kLogarithmic ? std::log(value) : value;
  }

  const PlotAxis kind_;
  const double from_;
  const double to_;
  double low_;
  double high_;
};

struct Bounds {
  double x_low = std::numeric_limits<double>::infinity();
  double x_high = -std::numeric_limits<double>::infinity();
  double y_low = std::numeric_limits<double>::infinity();
  double y_high = -std::numeric_limits<double>::infinity();
};

Bounds BoundsOf(const XyPlot& plot) {
  Bounds bounds;
  for (const PlotSeries& series : plot.series) {
    for (const PlotPoint& point : series.points) {
      bounds.x_low = std::min(bounds.x_low, point.x);
      bounds.x_high = std::max(bounds.x_high, point.x);
      bounds.y_low = std::min({bounds.y_low, point.y, point.low});
      bounds.y_high = std::max({bounds.y_high, point.y, point.high});
    }
  }
  if (plot.y_axis == PlotAxis::kLinear) {
    bounds.y_low = std::min(0.0, bounds.y_low);
  }
  return bounds;
}

std::string DrawAxes(const XyPlot& plot, const Axis& x, const Axis& y) {
  std::string html = fmt::format(
      R"(<path class="axis" d="M{0:.1f} {1:.1f}V{2:.1f}H{3:.1f}"/>)", kLeft,
      kTop, kHeight - kBottom, kWidth - kRight);
  const std::vector<double> x_ticks = x.Ticks();
  for (size_t i = 0; i < x_ticks.size(); ++i) {
    const bool last = i + 1 == x_ticks.size();
    html += SvgLabel(x.At(x_ticks[i]), kHeight - kBottom + 15,
                     last ? "end" : "middle", plot.x_text(x_ticks[i]));
  }
  for (const double tick : y.Ticks()) {
    html += fmt::format(R"(<path class="grid" d="M{:.1f} {:.1f}H{:.1f}"/>)",
                        kLeft, y.At(tick), kWidth - kRight);
    html += SvgLabel(kLeft - 6, y.At(tick) + 4, "end", plot.y_text(tick));
  }
  return html + SvgLabel((kLeft + kWidth - kRight) / 2, kHeight - 8, "middle",
                         plot.x_name);
}

std::string DrawSeries(const PlotSeries& series, size_t index, const Axis& x,
                       const Axis& y) {
  std::string path;
  std::string marks;
  for (const PlotPoint& point : series.points) {
    const double px = x.At(point.x);
    const double py = y.At(point.y);
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", px, py);
    if (series.line_only) continue;
    marks +=
        fmt::format(R"(<circle cx="{:.1f}" cy="{:.1f}" r="3.5"/>)", px, py);
    if (point.high > point.low) {
      marks +=
          fmt::format(R"(<path class="interval" d="M{:.1f} {:.1f}V{:.1f}"/>)",
                      px, y.At(point.low), y.At(point.high));
    }
  }
  return fmt::format(
      R"(<g class="series-{}"><path class="curve" d="{}"/>{}</g>)", index, path,
      marks);
}

std::string Legend(const XyPlot& plot) {
  std::string html;
  for (size_t i = 0; i < plot.series.size(); ++i) {
    html += fmt::format(
        "<span class=\"bench-key series-{}\"><svg viewBox=\"0 0 16 8\" "
        "aria-hidden=\"true\"><path class=\"curve\" d=\"M0 4H16\"/></svg>{}"
        "</span> ",
        i, HtmlText(plot.series[i].name));
  }
  return html;
}

}  // namespace

std::string RenderXyPlot(const XyPlot& plot) {
  const Bounds bounds = BoundsOf(plot);
  if (bounds.x_low > bounds.x_high) return "";
  const Axis x(plot.x_axis, bounds.x_low, bounds.x_high, kLeft,
               kWidth - kRight);
  const Axis y(plot.y_axis, bounds.y_low, bounds.y_high, kHeight - kBottom,
               kTop);
  std::string picture = DrawAxes(plot, x, y);
  for (size_t i = 0; i < plot.series.size(); ++i) {
    picture += DrawSeries(plot.series[i], i, x, y);
  }
  return fmt::format(
      "<figure class=\"plot\"><figcaption>{}<br><span class=\"keys\">{}"
      "</span></figcaption><svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" "
      "aria-label=\"{}: {} against {}\">{}</svg></figure>\n",
      HtmlText(plot.title), Legend(plot), kWidth, kHeight, HtmlText(plot.title),
      HtmlText(plot.y_name), HtmlText(plot.x_name), picture);
}

const std::string_view kXyPlotStyle = R"css(
.plots { display: flex; flex-wrap: wrap; gap: 16px 24px; }
.plot { flex: 1 1 320px; max-width: 600px; margin: 0; }
.plot figcaption { font-size: 14px; font-weight: 600; }
.plot .keys { font-weight: 400; font-size: 13px; }
.plot .bench-key { display: inline-block; margin-right: 12px; }
.plot .bench-key svg { display: inline; width: 22px; height: 10px;
  margin-right: 5px; }
.plot svg { display: block; width: 100%; height: auto; }
.plot text { font-size: 11px; fill: var(--muted); }
.plot .axis { fill: none; stroke: var(--muted); }
.plot .grid { fill: none; stroke: var(--line); stroke-width: .7; }
.plot .curve { fill: none; stroke: currentColor; stroke-width: 2; }
.plot circle { fill: currentColor; }
.plot .interval { stroke: currentColor; stroke-width: 1.5; }
.plot .series-0 { color: var(--muted); }
.plot .series-1 { color: var(--link); }
.plot .series-2 { color: var(--good); }
.plot .series-3 { color: var(--again); }
.plot .series-4 { color: var(--restart); }
.plot .series-5 { color: var(--notice); }
.plot .bench-key { color: inherit; }
.plot .bench-key.series-0 svg { color: var(--muted); }
.plot .bench-key.series-1 svg { color: var(--link); }
.plot .bench-key.series-2 svg { color: var(--good); }
.plot .bench-key.series-3 svg { color: var(--again); }
.plot .bench-key.series-4 svg { color: var(--restart); }
.plot .bench-key.series-5 svg { color: var(--notice); }
)css";

}  // namespace gauntlet
