#include "harness/cli/bench/bench_text.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "engine/cli/terminal/text_table.h"
#include "engine/text/counted.h"
#include "engine/text/units.h"
#include "harness/bench/figures/byte_text.h"
#include "harness/bench/figures/metric_text.h"
#include "harness/bench/figures/recommendation.h"
#include "harness/bench/figures/statistics.h"
#include "reports/bench/cluster_text.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

std::string MedianCell(const CheckpointFigures& figures, Metric metric) {
  const TrialValues& values = figures.of(metric);
  if (values.empty()) return "-";
  return MetricText(InfoOf(metric).unit, MedianOf(values));
}

// Returns the 95 % interval of the median; "" if there are too few trials.
std::string IntervalCell(const CheckpointFigures& figures, Metric metric) {
  const TrialValues& values = figures.of(metric);
  if (values.size() < kLeastTrials) return "";
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

// Returns a line with the recommended interval for each mode with saves.
std::string RecommendationsText(std::span<const CheckpointFigures> group,
                                double between_failures) {
  std::string text;
  for (const Recommendation& one : RecommendationsOf(group, between_failures)) {
    text += fmt::format("  {:<9}  every {} ({}): expected goodput {:.2f} %\n",
                        ModeName(one.config.mode), Counted(one.steps, "step"),
                        MetricText(MetricUnit::kSeconds, one.seconds),
                        100.0 * one.goodput);
  }
  if (text.empty()) return "";
  return fmt::format("save, for one failure every {} on average\n{}",
                     LongTimeText(between_failures), text);
}

// Returns a note on each mode in which a save is nearly always in flight: each
// save then stalls until the one before it is done.
std::string BusyDiskNotes(std::span<const CheckpointFigures> group) {
  constexpr double kNearlyAlways = 0.9;
  std::string text;
  for (const CheckpointFigures& figures : group) {
    const TrialValues& busy = figures.of(Metric::kBusy);
    const bool saves_in_background =
        figures.config.mode && *figures.config.mode != SaveMode::kSync;
    if (!saves_in_background || !figures.voided.empty() || busy.empty() ||
        MedianOf(busy) < kNearlyAlways) {
      continue;
    }
    text += fmt::format(
        "note: {}: a save was in flight {} of the time, so a save waits for "
        "the one before it; use a larger --every, such as {}\n",
        ModeName(figures.config.mode),
        MetricText(MetricUnit::kRatio, MedianOf(busy)),
        5 * figures.config.every);
  }
  return text;
}

std::string CheckpointGoodputText(const CheckpointFigures& figures) {
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

// Returns "" if there are enough trials for an interval.
std::string TrialsText(const CheckpointFigures& figures) {
  const size_t trials = figures.of(Metric::kStep).size();
  if (trials >= kLeastTrials || !figures.voided.empty()) return "";
  return fmt::format(" ({}; a 95 % interval needs {})",
                     Counted(trials, "trial"), kLeastTrials);
}

std::string GroupText(std::span<const CheckpointFigures> group,
                      double between_failures) {
  constexpr std::array kRecovery = {Metric::kDetect,    Metric::kRespawn,
                                    Metric::kJoin,      Metric::kRestore,
                                    Metric::kRecompute, Metric::kRecovery};
  const CheckpointConfig& config = group.front().config;
  const bool saves = std::ranges::any_of(
      group,
      [](const CheckpointFigures& one) { return one.config.mode.has_value(); });
  std::string text =
      fmt::format("state {}, {}, {}{}\n", ByteText(config.state_bytes),
                  saves ? "a save every " + Counted(config.every, "step")
                        : "no checkpoints",
                  ClusterText(config), TrialsText(group.front()));
  text +=
      MetricsTable(group, kCostMetrics) + MetricsTable(group, kResourceMetrics);
  text += BusyDiskNotes(group);
  if (saves) {
    text += "recovery from kill -9\n" + MetricsTable(group, kRecovery);
  }
  text += RecommendationsText(group, between_failures);
  std::string goodput;
  for (const CheckpointFigures& figures : group) {
    if (!figures.voided.empty()) {
      text +=
          fmt::format("VOID  {}: {}\n", NameOf(figures.config), figures.voided);
    } else if (figures.goodput) {
      goodput += CheckpointGoodputText(figures);
    } else if (!figures.goodput_missing.empty()) {
      goodput +=
          fmt::format("  {:<9}  not measured: {}\n",
                      ModeName(figures.config.mode), figures.goodput_missing);
    }
  }
  if (!goodput.empty()) text += "goodput under kills\n" + goodput;
  return text;
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

std::string CheckpointResultToText(const CheckpointResult& result) {
  std::string text;
  for (size_t begin = 0; begin < result.figures.size();) {
    const auto group = GroupAt(result.figures, begin);
    text += GroupText(group, result.between_failures) + "\n";
    begin += group.size();
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
