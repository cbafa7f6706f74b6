// The result file of a benchmark: JSON in Google Benchmark's format, so that
// its tools can read the file.
//
// Each trial is an entry of run_type "iteration". Its real_time is the time of
// a step, its cpu_time the CPU time of a step. The entry also has all metrics
// in SI units. Each configuration has three aggregates: the median and the ends
// of its 95 % interval. Entries "machine/…" hold rates of the machine itself.
#ifndef GAUNTLET_HARNESS_BENCH_FIGURES_BENCH_FILE_H_
#define GAUNTLET_HARNESS_BENCH_FIGURES_BENCH_FILE_H_

#include <array>
#include <map>
#include <string>
#include <string_view>

#include "harness/bench/figures/checkpoint_result.h"
#include "harness/record/parsed.h"

namespace gauntlet {

std::string CheckpointResultToJson(const CheckpointResult& result);

// Trials of a result file, for comparisons.
struct BenchFigures {
  BenchContext context;
  // By configuration's name, then by metric.
  std::map<std::string, std::array<TrialValues, kMetrics>> values;

  // Returns nullptr if the metric was not measured.
  const TrialValues* Find(const std::string& name, Metric metric) const;
};

// Reads a result file. `name` is its name in error messages.
Parsed<BenchFigures> ReadBenchFigures(std::string_view json,
                                      std::string_view name);

// Returns the differences that make the figures incomparable, with advice:
// "host: a in the baseline, b now; …; measure a new baseline …". Returns "" if
// machine, program and file system are the same.
std::string ContextDifference(const BenchContext& baseline,
                              const BenchContext& present);

// Two groups of trials differ significantly if the p-value (MannWhitneyP) is
// below this.
inline constexpr double kSignificance = 0.05;

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_BENCH_FIGURES_BENCH_FILE_H_
