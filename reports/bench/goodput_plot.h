// The plot of a measured goodput, with the curve of ExpectedGoodput.
#ifndef GAUNTLET_REPORTS_BENCH_GOODPUT_PLOT_H_
#define GAUNTLET_REPORTS_BENCH_GOODPUT_PLOT_H_

#include <string>

#include "harness/bench/figures/checkpoint_result.h"

namespace gauntlet {

// Returns a <figure>: the goodput against the interval, as the curve of
// ExpectedGoodput and as the measured point. `curve` is the curve's name.
// `title` and `curve` are plain text.
std::string RenderGoodputPlot(const MeasuredGoodput& goodput, std::string title,
                              std::string curve);

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_BENCH_GOODPUT_PLOT_H_
