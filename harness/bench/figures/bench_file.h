// The file of a benchmark's figures: JSON in the form that Google Benchmark
// writes, so that its tools read it.
//
// An entry for each trial (run_type "iteration": real_time is a step's time,
// cpu_time its processor time), with all metrics in SI units beside them, and
// three aggregates of each configuration: the median and the ends of its 95 %
// interval. Entries "machine/…" hold what the machine itself does.
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

  // nullptr: it was not measured.
  const TrialValues* Find(const std::string& name, Metric metric) const;
};

// Errors call the file `name`.
Parsed<BenchFigures> ReadBenchFigures(std::string_view json,
                                      std::string_view name);

// "host: a in the baseline, b now; …": what forbids a comparison. Empty: the
// same machine, program and file system.
std::string ContextDifference(const BenchContext& baseline,
                              const BenchContext& present);

// Two groups of trials differ if chance alone makes them differ as much with a
// probability below this.
inline constexpr double kSignificance = 0.05;

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_BENCH_FIGURES_BENCH_FILE_H_
