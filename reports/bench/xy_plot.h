// Series of points with intervals, on numeric axes.
#ifndef GAUNTLET_REPORTS_BENCH_XY_PLOT_H_
#define GAUNTLET_REPORTS_BENCH_XY_PLOT_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace gauntlet {

struct PlotPoint {
  double x = 0;
  double y = 0;
  double low = 0;  // [low, high]: interval around y; not drawn if empty
  double high = 0;
};

struct PlotSeries {
  std::string name;               // plain text
  std::vector<PlotPoint> points;  // ascending by x
  bool line_only = false;         // for a formula: a line without marks
};

enum class PlotAxis : uint8_t { kLinear, kLogarithmic };

struct XyPlot {
  std::string title;  // plain text
  std::string x_name;
  std::string y_name;
  PlotAxis x_axis = PlotAxis::kLogarithmic;
  PlotAxis y_axis = PlotAxis::kLinear;  // kLinear begins at 0
  // Returns the text of a value on an axis.
  std::function<std::string(double)> x_text;
  std::function<std::string(double)> y_text;
  std::vector<PlotSeries> series;  // one to six; on a logarithmic axis, all
                                   // values are above 0
};

// Returns a <figure>; "" if there are no points.
std::string RenderXyPlot(const XyPlot& plot);

extern const std::string_view kXyPlotStyle;

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_BENCH_XY_PLOT_H_
