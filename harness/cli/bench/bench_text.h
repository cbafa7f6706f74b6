// The figures of a benchmark as tables for a terminal.
#ifndef GAUNTLET_HARNESS_CLI_BENCH_BENCH_TEXT_H_
#define GAUNTLET_HARNESS_CLI_BENCH_BENCH_TEXT_H_

#include <string>

#include "harness/bench/figures/bench_file.h"
#include "harness/bench/figures/checkpoint_result.h"

namespace gauntlet {

// Costs, recovery and recommended intervals of each size, interval and number
// of workers, then the machine's limits.
std::string CheckpointResultToText(const CheckpointResult& result);

// A line for each figure of which the trials differ significantly from the
// baseline's.
std::string ComparisonText(const CheckpointResult& result,
                           const BenchFigures& baseline);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_BENCH_BENCH_TEXT_H_
