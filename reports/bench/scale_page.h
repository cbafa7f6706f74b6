// The report of a scaling benchmark: one self-contained HTML file.
#ifndef GAUNTLET_REPORTS_BENCH_SCALE_PAGE_H_
#define GAUNTLET_REPORTS_BENCH_SCALE_PAGE_H_

#include <string>

#include "harness/bench/figures/scale_result.h"

namespace gauntlet {

// Returns a table of all figures. With two or more clusters, also log-log plots
// against the number of workers: times, messages and memory. A measured goodput
// is plotted with the curve of ExpectedGoodput.
std::string RenderScalePage(const ScaleResult& result);

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_BENCH_SCALE_PAGE_H_
