// The report of a benchmark: one HTML file that loads nothing.
#ifndef GAUNTLET_REPORTS_BENCH_BENCH_PAGE_H_
#define GAUNTLET_REPORTS_BENCH_BENCH_PAGE_H_

#include <string>

#include "harness/bench/figures/checkpoint_result.h"

namespace gauntlet {

// Tables of all figures, and plots where there is something to compare: time of
// a step against the interval, stall against the size of the state, goodput
// beside Young-Daly, the parts of recovery.
std::string RenderBenchPage(const CheckpointResult& result);

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_BENCH_BENCH_PAGE_H_
