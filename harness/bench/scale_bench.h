// Runs a job in simulated clusters of growing size: undisturbed, with a crash
// and a restart of all workers, and with a crash and a rejoin of one worker.
#ifndef GAUNTLET_HARNESS_BENCH_SCALE_BENCH_H_
#define GAUNTLET_HARNESS_BENCH_SCALE_BENCH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "engine/status.h"
#include "harness/bench/checkpoint_bench.h"
#include "harness/bench/figures/scale_result.h"

namespace gauntlet {

struct ScaleBenchPlan {
  ScaleSetup setup;
  std::vector<int> workers;  // ascending, at least kLeastScale
  // Approximate number of crashes in the run that measures goodput; 0: no such
  // run.
  uint64_t crashes = 50;
};

inline constexpr int kLeastScale = 2;
// Maximum number of workers in the run that measures goodput, as this run is
// long.
inline constexpr int kMostGoodputWorkers = 64;

// kInternal: a run did not end, or its events are inconsistent. kCancelled: the
// user interrupted before any cluster was measured.
Result<ScaleResult> RunScaleBench(const ScaleBenchPlan& plan,
                                  BenchObserver& observer);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_BENCH_SCALE_BENCH_H_
