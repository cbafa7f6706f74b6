// The figures of a benchmark as tables for a terminal.
#ifndef GAUNTLET_HARNESS_CLI_BENCH_BENCH_TEXT_H_
#define GAUNTLET_HARNESS_CLI_BENCH_BENCH_TEXT_H_

#include <string>

#include "harness/bench/figures/bench_file.h"
#include "harness/bench/figures/checkpoint_result.h"

namespace gauntlet {

// Returns tables of costs, recovery and recommended save intervals.
// Configurations that differ only in the save mode are shown together. The
// machine's limits come last.
std::string CheckpointResultToText(const CheckpointResult& result);

// Returns a line for each figure that differs significantly from the baseline.
std::string ComparisonText(const CheckpointResult& result,
                           const BenchFigures& baseline);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_BENCH_BENCH_TEXT_H_
