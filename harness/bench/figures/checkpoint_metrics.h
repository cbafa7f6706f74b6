// Metrics of a benchmark of checkpoints.
#ifndef GAUNTLET_HARNESS_BENCH_FIGURES_CHECKPOINT_METRICS_H_
#define GAUNTLET_HARNESS_BENCH_FIGURES_CHECKPOINT_METRICS_H_

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace gauntlet {

enum class Metric : uint8_t {
  kStep,
  kStall,
  kCost,
  kOverhead,
  kDurable,
  kBandwidth,
  kBytes,
  kBusy,
  kCpu,
  kMemory,
  kMemoryAdded,
  kDetect,
  kRespawn,
  kJoin,
  kRestore,
  kRecompute,
  kRecovery,
  kGoodput,
};
inline constexpr size_t kMetrics = static_cast<size_t>(Metric::kGoodput) + 1;

enum class MetricUnit : uint8_t {
  kSeconds,
  kBytes,
  kBytesPerSecond,
  kRatio,
};

// Direction in which the values of a metric improve.
enum class Better : uint8_t { kLower, kHigher };

struct MetricInfo {
  Metric metric;
  std::string_view name;  // in limits and in JSON
  MetricUnit unit;
  Better better;
  std::string_view meaning;  // one line
};

// Returns all metrics, in the order of the enum.
std::span<const MetricInfo, kMetrics> AllMetrics();
const MetricInfo& InfoOf(Metric metric);
// Returns true iff the metric is a difference from runs without saves. A ratio
// of two differences has no meaning, and most differences may be negative.
bool IsDifference(Metric metric);
std::optional<Metric> FindMetric(std::string_view name);

// Metrics of training with saves, in the order of tables.
inline constexpr std::array kCostMetrics = {Metric::kStep, Metric::kStall,
                                            Metric::kCost, Metric::kOverhead,
                                            Metric::kDurable};
inline constexpr std::array kResourceMetrics = {
    Metric::kBytes, Metric::kBandwidth, Metric::kBusy,
    Metric::kCpu,   Metric::kMemory,    Metric::kMemoryAdded};

// Parts of a recovery, in the order of time. Their sum is kRecovery.
inline constexpr std::array kRecoveryParts = {Metric::kDetect, Metric::kRespawn,
                                              Metric::kJoin, Metric::kRestore,
                                              Metric::kRecompute};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_BENCH_FIGURES_CHECKPOINT_METRICS_H_
