// Result of a scaling benchmark of simulated clusters, as plain values.
#ifndef GAUNTLET_HARNESS_BENCH_FIGURES_SCALE_RESULT_H_
#define GAUNTLET_HARNESS_BENCH_FIGURES_SCALE_RESULT_H_

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "chaos/sim/scheduler/latency.h"
#include "engine/world/clock.h"
#include "harness/bench/figures/checkpoint_metrics.h"
#include "harness/bench/figures/checkpoint_result.h"

namespace gauntlet {

// All times are virtual.
enum class ScaleMetric : uint8_t {
  kForm,
  kStep,
  kTreeStep,
  kSave,
  kDetect,
  kRespawn,
  kJoin,
  kRestore,
  kRecompute,
  kRestart,
  kRejoin,
  kFormMessages,
  kStepMessages,
  kRestartMessages,
  kMemory,
  kInterval,
  kGoodput,
};
inline constexpr size_t kScaleMetrics =
    static_cast<size_t>(ScaleMetric::kGoodput) + 1;

struct ScaleMetricInfo {
  ScaleMetric metric;
  std::string_view name;
  std::optional<MetricUnit> unit;  // nullopt: a count
  std::string_view meaning;        // one line
};
// Returns all metrics, in the order of the enum.
std::span<const ScaleMetricInfo, kScaleMetrics> AllScaleMetrics();

// Returns "12.3 ms" or "1240".
std::string ScaleMetricText(const ScaleMetricInfo& info, double value);

struct ScaleSetup {
  NetworkLatency link;
  Duration step_time = std::chrono::milliseconds(100);
  // Mean time between two failures of a job with `of_workers` workers. A job
  // with half as many workers fails half as often.
  Duration between_failures = std::chrono::hours(3);
  int of_workers = 16'384;
  uint64_t seed = 1;

  // Returns the mean time between failures of a job with that many workers, in
  // seconds.
  double BetweenFailuresOf(int workers) const;
};

struct ScaleFigures {
  int workers = 1;
  std::array<double, kScaleMetrics> values{};
  // Goodput of a run with real crashes.
  std::optional<MeasuredGoodput> goodput;
  // Reason why the figures are unusable: the final state of a run differs from
  // that of the undisturbed run. Empty: they are usable.
  std::string voided;

  double of(ScaleMetric metric) const {
    return values[static_cast<size_t>(metric)];
  }
  double& of(ScaleMetric metric) { return values[static_cast<size_t>(metric)]; }
};

struct ScaleResult {
  BenchContext context;
  ScaleSetup setup;
  std::vector<ScaleFigures> figures;  // by number of workers
  bool interrupted = false;
};

// Returns the exponent p if the metric grows like workers^p between two sizes.
// REQUIRES: the numbers of workers differ, and both values are above 0.
double GrowthBetween(const ScaleFigures& small, const ScaleFigures& large,
                     ScaleMetric metric);

// Returns JSON in Google Benchmark's format, with an entry for each number of
// workers. The real_time of an entry is the virtual time of a step.
std::string ScaleResultToJson(const ScaleResult& result);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_BENCH_FIGURES_SCALE_RESULT_H_
