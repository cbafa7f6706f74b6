// A step plot of a count that only grows.
#ifndef GAUNTLET_REPORTS_HTML_PICTURE_STEP_PLOT_H_
#define GAUNTLET_REPORTS_HTML_PICTURE_STEP_PLOT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gauntlet {

// From x on, the count is y.
struct PlotStep {
  uint64_t x = 0;
  uint64_t y = 0;
};

struct StepPlot {
  std::string name;             // the count: "fault points reached"
  std::string x_name;           // "case"
  uint64_t x_end = 0;           // the axis begins at 0
  uint64_t total = 0;           // largest possible count; 0: not known
  std::vector<PlotStep> steps;  // ascending; the count begins at 0
};

// Returns a <figure>, which also states the last count as text.
std::string RenderStepPlot(const StepPlot& plot);

extern const std::string_view kStepPlotStyle;

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_HTML_PICTURE_STEP_PLOT_H_
