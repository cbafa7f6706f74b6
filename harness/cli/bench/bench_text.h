// The figures of a benchmark as tables for a terminal.
#ifndef GAUNTLET_HARNESS_CLI_BENCH_BENCH_TEXT_H_
#define GAUNTLET_HARNESS_CLI_BENCH_BENCH_TEXT_H_

#include <string>

#include "harness/bench/figures/bench_file.h"
#include "harness/bench/figures/checkpoint_result.h"

namespace gauntlet {

// Returns costs, recovery and recommended intervals for each size, interval and
// number of workers, then the machine's limits.
std::string CheckpointResultToText(const CheckpointResult& result);

// Returns a line for each figure that differs significantly from the baseline.
std::string ComparisonText(const CheckpointResult& result,
                           const BenchFigures& baseline);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_BENCH_BENCH_TEXT_H_
