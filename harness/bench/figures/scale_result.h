// How a simulated cluster behaves as it grows, as plain values.
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

// Times are virtual ones.
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
  std::optional<MetricUnit> unit;  // none: a count
  std::string_view meaning;        // one line
};
// In the order of the enum.
std::span<const ScaleMetricInfo, kScaleMetrics> AllScaleMetrics();

// "12.3 ms", "1240".
std::string ScaleMetricText(const ScaleMetricInfo& info, double value);

struct ScaleSetup {
  NetworkLatency link;
  Duration step_time = std::chrono::milliseconds(100);
  // Mean time between two interruptions of a job with so many workers. Half as
  // many are interrupted half as often.
  Duration between_failures = std::chrono::hours(3);
  int of_workers = 16'384;
  uint64_t seed = 1;

  // In seconds, of a job with that many workers.
  double BetweenFailuresOf(int workers) const;
};

struct ScaleFigures {
  int workers = 1;
  std::array<double, kScaleMetrics> values{};
  // With real crashes, beside the formula.
  std::optional<MeasuredGoodput> goodput;
  // Why there are no figures: a run did not end with the state of the
  // undisturbed one.
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

// Exponent p of the growth like workers^p between two sizes. REQUIRES: the
// numbers of workers differ, and both values are above 0.
double GrowthBetween(const ScaleFigures& small, const ScaleFigures& large,
                     ScaleMetric metric);

// In the form that Google Benchmark writes: an entry for each number of
// workers, real_time is a step's virtual time.
std::string ScaleResultToJson(const ScaleResult& result);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_BENCH_FIGURES_SCALE_RESULT_H_
