#include "reports/bench/goodput_plot.h"

#include <cmath>
#include <utility>

#include "harness/bench/figures/failure_model.h"
#include "harness/bench/figures/metric_text.h"
#include "reports/bench/xy_plot.h"

namespace gauntlet {
namespace {

// Returns the curve of ExpectedGoodput around the measured point.
PlotSeries CurveOf(const MeasuredGoodput& goodput, std::string name) {
  PlotSeries curve = {.name = std::move(name), .points = {}, .line_only = true};
  constexpr int kPoints = 60;
  for (int i = 0; i <= kPoints; ++i) {
    // From a thirtieth of the interval to thirty times the interval.
    const double interval =
        goodput.interval * std::pow(30.0, 2.0 * i / kPoints - 1.0);
    const double y = ExpectedGoodput(goodput.model, interval);
    curve.points.push_back({.x = interval, .y = y, .low = y, .high = y});
  }
  return curve;
}

}  // namespace

std::string RenderGoodputPlot(const MeasuredGoodput& goodput, std::string title,
                              std::string curve) {
  return RenderXyPlot(
      {.title = std::move(title),
       .x_name = "time of the steps from save to save",
       .y_name = "goodput",
       .x_text =
           [](double value) { return MetricText(MetricUnit::kSeconds, value); },
       .y_text =
           [](double value) { return MetricText(MetricUnit::kRatio, value); },
       .series = {CurveOf(goodput, std::move(curve)),
                  {.name = "measured",
                   .points = {{.x = goodput.interval,
                               .y = goodput.measured,
                               .low = goodput.measured,
                               .high = goodput.measured}}}}});
}

}  // namespace gauntlet
