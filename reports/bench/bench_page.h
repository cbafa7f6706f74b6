// The report of a benchmark: one self-contained HTML file.
#ifndef GAUNTLET_REPORTS_BENCH_BENCH_PAGE_H_
#define GAUNTLET_REPORTS_BENCH_BENCH_PAGE_H_

#include <string>

#include "harness/bench/figures/checkpoint_result.h"

namespace gauntlet {

// Returns tables of all figures, and plots if there is more than one value to
// compare: step time against the interval, stall against the size of the state,
// goodput compared with Young-Daly, and the parts of recovery.
std::string RenderBenchPage(const CheckpointResult& result);

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_BENCH_BENCH_PAGE_H_
