#include "harness/bench/figures/checkpoint_metrics.h"

#include <algorithm>

namespace gauntlet {
namespace {

using enum MetricUnit;

constexpr std::array<MetricInfo, kMetrics> kMetricInfos = {{
    {Metric::kStep, "step", kSeconds, Better::kLower,
     "time of a step, its share of the saves included"},
    {Metric::kStall, "stall", kSeconds, Better::kLower,
     "time that training waits for a save"},
    {Metric::kCost, "cost", kSeconds, Better::kLower,
     "time by which a save makes the run longer"},
    {Metric::kOverhead, "overhead", kRatio, Better::kLower,
     "the same of all saves, as a share of the run without saves"},
    {Metric::kDurable, "durable", kSeconds, Better::kLower,
     "time from the end of a step until its save is durable"},
    {Metric::kBandwidth, "bandwidth", kBytesPerSecond, Better::kHigher,
     "bytes of a save, divided by its time to durable"},
    {Metric::kBytes, "bytes", kBytes, Better::kLower,
     "bytes that a save writes, on all workers"},
    {Metric::kBusy, "busy", kRatio, Better::kLower,
     "share of the time during which a save is in flight"},
    {Metric::kCpu, "cpu", kSeconds, Better::kLower,
     "processor time of a step, on all workers"},
    {Metric::kMemory, "memory", kBytes, Better::kLower,
     "peak memory of a worker (resident set)"},
    {Metric::kMemoryAdded, "memory_added", kBytes, Better::kLower,
     "peak memory, less the lowest peak without saves; never below 0"},
    {Metric::kDetect, "detect", kSeconds, Better::kLower,
     "recovery: from kill -9 of a worker until the launcher detects it"},
    {Metric::kRespawn, "respawn", kSeconds, Better::kLower,
     "recovery: until the new processes run"},
    {Metric::kJoin, "join", kSeconds, Better::kLower,
     "recovery: model and data are built, the workers arrive and agree"},
    {Metric::kRestore, "restore", kSeconds, Better::kLower,
     "recovery: the checkpoint is verified and loaded, or a state received"},
    {Metric::kRecompute, "recompute", kSeconds, Better::kLower,
     "recovery: recomputed steps, and the first new one"},
    {Metric::kRecovery, "recovery", kSeconds, Better::kLower,
     "from kill -9 until the first new step: the sum of the parts"},
    {Metric::kGoodput, "goodput", kRatio, Better::kHigher,
     "under kills: share of the time that the same steps take undisturbed"},
}};

}  // namespace

std::span<const MetricInfo, kMetrics> AllMetrics() { return kMetricInfos; }

const MetricInfo& InfoOf(Metric metric) {
  return kMetricInfos[static_cast<size_t>(metric)];
}

bool IsDifference(Metric metric) {
  return metric == Metric::kCost || metric == Metric::kOverhead ||
         metric == Metric::kMemoryAdded;
}

std::optional<Metric> FindMetric(std::string_view name) {
  const auto found = std::ranges::find(kMetricInfos, name, &MetricInfo::name);
  if (found == kMetricInfos.end()) return std::nullopt;
  return found->metric;
}

}  // namespace gauntlet
