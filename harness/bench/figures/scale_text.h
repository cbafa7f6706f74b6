// Parts of the text of a scaling benchmark, for a terminal and for a page.
#ifndef GAUNTLET_HARNESS_BENCH_FIGURES_SCALE_TEXT_H_
#define GAUNTLET_HARNESS_BENCH_FIGURES_SCALE_TEXT_H_

#include <span>
#include <string>
#include <vector>

#include "harness/bench/figures/scale_result.h"

namespace gauntlet {

// Returns "a step computes 100ms; a message takes 10us to 20us and 25GB/s; seed
// 1".
std::string ScaleSetupText(const ScaleSetup& setup);

// Returns the figures that are not void, by number of workers.
std::vector<const ScaleFigures*> UsableFigures(const ScaleResult& result);

// Returns the growth between the two largest clusters, as "N^0.98"; "" with a
// single cluster, or if a value is not above 0. If memory per worker falls as
// workers are added, returns "does not grow".
std::string ScaleGrowthText(std::span<const ScaleFigures* const> usable,
                            ScaleMetric metric);

// Returns "interval, goodput: at the failure rate of a job with 16384 workers
// that is interrupted once in 3h; …".
std::string ScaleFailureRateText(const ScaleSetup& setup);

// Returns a sentence that compares the measured goodput with the formula.
// REQUIRES: the cluster has a measured goodput.
std::string ScaleGoodputText(const ScaleFigures& figures);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_BENCH_FIGURES_SCALE_TEXT_H_
