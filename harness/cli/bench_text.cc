#include "harness/cli/bench_text.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "harness/bench/byte_text.h"
#include "harness/bench/failure_model.h"
#include "harness/bench/metric_text.h"
#include "harness/bench/statistics.h"
#include "harness/cli/text_table.h"
#include "harness/scenario/units.h"
#include "reports/counted.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

std::string MedianCell(const CheckpointFigures& figures, Metric metric) {
  const TrialValues& values = figures.of(metric);
  if (values.empty()) return "-";
  return MetricText(InfoOf(metric).unit, MedianOf(values));
}

// The 95 % interval.
std::string IntervalCell(const CheckpointFigures& figures, Metric metric) {
  const TrialValues& values = figures.of(metric);
  if (values.empty()) return "";
  const MedianInterval interval = MedianIntervalOf(values);
  return MetricRangeText(InfoOf(metric).unit, interval.low, interval.high);
}

std::string MetricsTable(std::span<const CheckpointFigures> group,
                         std::span<const Metric> metrics) {
  TextTable table;
  std::vector<std::string> head = {""};
  for (const Metric metric : metrics) head.emplace_back(InfoOf(metric).name);
  table.AddRow(std::move(head));
  for (const CheckpointFigures& figures : group) {
    if (!figures.voided.empty()) continue;
    const bool any = std::ranges::any_of(
        metrics, [&](Metric metric) { return !figures.of(metric).empty(); });
    if (!any) continue;
    std::vector<std::string> medians = {ModeName(figures.config.mode)};
    std::vector<std::string> intervals = {""};
    for (const Metric metric : metrics) {
      medians.push_back(MedianCell(figures, metric));
      intervals.push_back(IntervalCell(figures, metric));
    }
    table.AddRow(std::move(medians));
    table.AddRow(std::move(intervals));
  }
  return table.Render();
}

// "12 steps (34.5 ms)".
std::string IntervalText(double seconds, double step) {
  const double steps = std::max(1.0, std::round(seconds / step));
  return fmt::format("{} ({})", Counted(static_cast<uint64_t>(steps), "step"),
                     MetricText(MetricUnit::kSeconds, steps * step));
}

FailureModel ModelOf(const CheckpointFigures& figures,
                     Duration between_failures) {
  const auto median = [&figures](Metric metric) {
    return std::max(0.0, MedianOf(figures.of(metric)));
  };
  return {.between_failures =
              std::chrono::duration<double>(between_failures).count(),
          .save_cost = median(Metric::kCost),
          .durable_after =
              std::max(0.0, median(Metric::kDurable) - median(Metric::kStall)),
          .downtime = std::max(
              0.0, median(Metric::kRecovery) - median(Metric::kRecompute))};
}

// A line for each mode with saves.
std::string Recommendations(std::span<const CheckpointFigures> group,
                            Duration between_failures) {
  const TrialValues& base = group.front().of(Metric::kStep);
  if (base.empty() || group.front().config.mode) return "";
  const double step = MedianOf(base);
  std::string text;
  for (const CheckpointFigures& figures : group) {
    if (figures.of(Metric::kRecovery).empty() ||
        figures.of(Metric::kDurable).empty()) {
      continue;
    }
    const FailureModel model = ModelOf(figures, between_failures);
    // Not more often than a save becomes durable.
    const double least = std::max(step, MedianOf(figures.of(Metric::kDurable)));
    const double best = BestInterval(model, least);
    text += fmt::format("  {:<9}  every {}: expected goodput {:.2f} %\n",
                        ModeName(figures.config.mode), IntervalText(best, step),
                        100.0 * ExpectedGoodput(model, best));
  }
  if (text.empty()) return "";
  return fmt::format("save, with a failure each {} on average\n{}",
                     DurationToText(between_failures), text);
}

std::string GoodputText(const CheckpointFigures& figures) {
  const MeasuredGoodput& goodput = *figures.goodput;
  return fmt::format(
      "  {:<9}  measured {:.1f} %, Young-Daly {:.1f} %: {} in {}, one each {}, "
      "{} down each time\n",
      ModeName(figures.config.mode), 100.0 * goodput.measured,
      100.0 * goodput.expected, Counted(goodput.kills, "kill"),
      MetricText(MetricUnit::kSeconds, goodput.seconds),
      MetricText(MetricUnit::kSeconds, goodput.model.between_failures),
      MetricText(MetricUnit::kSeconds, goodput.model.downtime));
}

// Empty: each worker writes a shard.
std::string ShardsText(const CheckpointConfig& config) {
  if (config.shards == 0) return "";
  return ", " + Counted(static_cast<uint64_t>(config.shards), "shard");
}

std::string GroupText(std::span<const CheckpointFigures> group,
                      Duration between_failures) {
  constexpr std::array kCosts = {Metric::kStep, Metric::kStall, Metric::kCost,
                                 Metric::kOverhead, Metric::kDurable};
  constexpr std::array kResources = {Metric::kBytes,  Metric::kBandwidth,
                                     Metric::kBusy,   Metric::kCpu,
                                     Metric::kMemory, Metric::kMemoryAdded};
  constexpr std::array kRecovery = {Metric::kDetect,    Metric::kRespawn,
                                    Metric::kJoin,      Metric::kRestore,
                                    Metric::kRecompute, Metric::kRecovery};
  const CheckpointConfig& config = group.front().config;
  std::string text =
      fmt::format("state {}, a save every {}, {}{}\n",
                  ByteText(config.state_bytes), Counted(config.every, "step"),
                  Counted(static_cast<uint64_t>(config.workers), "worker"),
                  ShardsText(config));
  text += MetricsTable(group, kCosts) + MetricsTable(group, kResources);
  text += "recovery from kill -9\n" + MetricsTable(group, kRecovery);
  text += Recommendations(group, between_failures);
  std::string goodput;
  for (const CheckpointFigures& figures : group) {
    if (!figures.voided.empty()) {
      text +=
          fmt::format("VOID  {}: {}\n", NameOf(figures.config), figures.voided);
    } else if (figures.goodput) {
      goodput += GoodputText(figures);
    }
  }
  if (!goodput.empty()) text += "goodput under kills\n" + goodput;
  return text;
}

bool AreOfOneGroup(const CheckpointFigures& one,
                   const CheckpointFigures& other) {
  CheckpointConfig config = one.config;
  config.mode = other.config.mode;
  return config == other.config;
}

std::string MachineText(const MachineFigures& machine) {
  std::string text = fmt::format("machine, {}:", ByteText(machine.bytes));
  std::string_view between = " ";
  for (size_t i = 0; i < kMachineLimits; ++i) {
    if (machine.values[i].empty()) continue;
    text += fmt::format(
        "{}{} {}", between, MachineLimitName(static_cast<MachineLimit>(i)),
        MetricText(MetricUnit::kBytesPerSecond, MedianOf(machine.values[i])));
    between = ", ";
  }
  return text + "\n";
}

}  // namespace

std::string CheckpointResultToText(const CheckpointResult& result,
                                   Duration between_failures) {
  std::string text;
  const std::span<const CheckpointFigures> all = result.figures;
  for (size_t begin = 0; begin < all.size();) {
    size_t end = begin + 1;
    while (end < all.size() && AreOfOneGroup(all[begin], all[end])) ++end;
    text += GroupText(all.subspan(begin, end - begin), between_failures) + "\n";
    begin = end;
  }
  for (const MachineFigures& machine : result.machine) {
    text += MachineText(machine);
  }
  return text;
}

std::string ComparisonText(const CheckpointResult& result,
                           const BenchFigures& baseline) {
  std::string text;
  size_t compared = 0;
  for (const CheckpointFigures& figures : result.figures) {
    for (const MetricInfo& info : AllMetrics()) {
      const TrialValues& now = figures.of(info.metric);
      const TrialValues* const before =
          baseline.Find(NameOf(figures.config), info.metric);
      if (now.empty() || before == nullptr) continue;
      ++compared;
      const double p = MannWhitneyP(now, *before);
      if (p >= kSignificance) continue;
      const double old_median = MedianOf(*before);
      const double new_median = MedianOf(now);
      const bool better =
          (new_median < old_median) == (info.better == Better::kLower);
      text += fmt::format("  {:<6}  {} {}: {}, {} in the baseline (p {:.3f})\n",
                          better ? "better" : "worse", NameOf(figures.config),
                          info.name, MetricText(info.unit, new_median),
                          MetricText(info.unit, old_median), p);
    }
  }
  return fmt::format("baseline of {}: {} compared{}\n{}", baseline.context.date,
                     Counted(compared, "figure"),
                     text.empty() ? ", none differs significantly" : "", text);
}

}  // namespace gauntlet
