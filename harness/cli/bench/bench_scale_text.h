// The figures of `gauntlet bench scale` as tables for a terminal.
#ifndef GAUNTLET_HARNESS_CLI_BENCH_BENCH_SCALE_TEXT_H_
#define GAUNTLET_HARNESS_CLI_BENCH_BENCH_SCALE_TEXT_H_

#include <string>

#include "harness/bench/figures/scale_result.h"

namespace gauntlet {

// Returns a table with a row for each figure and a column for each number of
// workers, then the growth between the two largest clusters, and the goodput,
// as measured and by Daly's formula.
std::string ScaleResultToText(const ScaleResult& result);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_BENCH_BENCH_SCALE_TEXT_H_
