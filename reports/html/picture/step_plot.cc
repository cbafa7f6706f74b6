#include "reports/html/picture/step_plot.h"

#include <algorithm>

#include "reports/html/page/text.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr double kWidth = 360;
constexpr double kPlotHeight = 180;
constexpr double kLeft = 46;  // space for the labels of the y axis
constexpr double kRight = 14;
constexpr double kTop = 14;
constexpr double kBottom = 36;

// Maps counts to positions in the picture.
class Scale {
 public:
  explicit Scale(const StepPlot& plot)
      : x_end_(std::max<uint64_t>(plot.x_end, 1)),
        y_end_(std::max({plot.total, LastOf(plot), uint64_t{1}})) {}

  double X(uint64_t x) const {
    const double part =
        static_cast<double>(std::min(x, x_end_)) / static_cast<double>(x_end_);
    return kLeft + part * (kWidth - kLeft - kRight);
  }
  double Y(uint64_t y) const {
    const double part = static_cast<double>(y) / static_cast<double>(y_end_);
    return kPlotHeight - kBottom - part * (kPlotHeight - kTop - kBottom);
  }
  uint64_t x_end() const { return x_end_; }
  uint64_t y_end() const { return y_end_; }

  static uint64_t LastOf(const StepPlot& plot) {
    return plot.steps.empty() ? 0 : plot.steps.back().y;
  }

 private:
  const uint64_t x_end_;
  const uint64_t y_end_;
};

std::string Curve(const StepPlot& plot, const Scale& scale) {
  std::string path = fmt::format("M{:.1f} {:.1f}", scale.X(0), scale.Y(0));
  for (const PlotStep& step : plot.steps) {
    path += fmt::format("H{:.1f}V{:.1f}", scale.X(step.x), scale.Y(step.y));
  }
  return fmt::format(R"(<path class="curve" d="{}H{:.1f}"/>)", path,
                     scale.X(scale.x_end()));
}

std::string Axes(const Scale& scale) {
  return fmt::format(
      R"(<path class="axis" d="M{0:.1f} {1:.1f}V{2:.1f}H{3:.1f}"/>)",
      scale.X(0), kTop - 4, scale.Y(0), scale.X(scale.x_end()));
}

std::string Labels(const StepPlot& plot, const Scale& scale) {
  const double below = scale.Y(0) + 15;
  const double left = kLeft - 6;
  std::string out = SvgLabel(left, scale.Y(0) + 4, "end", "0");
  out += SvgLabel(left, scale.Y(scale.y_end()) + 4, "end",
                  GroupedDigits(scale.y_end()));
  out += SvgLabel(scale.X(0), below, "middle", "0");
  out += SvgLabel(scale.X(scale.x_end()), below, "end",
                  GroupedDigits(scale.x_end()));
  return out + SvgLabel((kLeft + kWidth - kRight) / 2, below + 15, "middle",
                        plot.x_name + "s");
}

std::string TotalLine(const StepPlot& plot, const Scale& scale) {
  if (plot.total == 0) return "";
  return fmt::format(R"(<path class="total" d="M{:.1f} {:.1f}H{:.1f}"/>)",
                     scale.X(0), scale.Y(plot.total), scale.X(scale.x_end()));
}

std::string InWords(const StepPlot& plot) {
  std::string text =
      fmt::format("{}: {}", plot.name, GroupedDigits(Scale::LastOf(plot)));
  if (plot.total > 0) text += " of " + GroupedDigits(plot.total);
  return HtmlText(text);
}

}  // namespace

std::string RenderStepPlot(const StepPlot& plot) {
  const Scale scale(plot);
  const std::string words = InWords(plot);
  return fmt::format(
      "<figure class=\"plot\"><figcaption>{}</figcaption><svg viewBox=\"0 0 "
      "{:.0f} {:.0f}\" role=\"img\" aria-label=\"{}, against {}\">{}{}{}{}"
      "</svg></figure>\n",
      words, kWidth, kPlotHeight, words, HtmlText(plot.x_name) + "s",
      Axes(scale), TotalLine(plot, scale), Curve(plot, scale),
      Labels(plot, scale));
}

const std::string_view kStepPlotStyle = R"css(
.plots { display: flex; flex-wrap: wrap; gap: 12px 20px; }
.plot { flex: 1 1 300px; max-width: 560px; margin: 0; }
.plot figcaption { font-size: 14px; font-weight: 600; }
.plot svg { display: block; width: 100%; height: auto; }
.plot text { font-size: 11px; fill: var(--muted); }
.plot .axis { fill: none; stroke: var(--line); }
.plot .curve { fill: none; stroke: var(--step); stroke-width: 1.8; }
.plot .total { fill: none; stroke: var(--muted); stroke-dasharray: 4 3; }
)css";

}  // namespace gauntlet
