#include "harness/bench/figures/bench_limit.h"

#include <algorithm>
#include <array>

#include "engine/text/units.h"
#include "harness/bench/figures/metric_text.h"
#include "harness/bench/figures/statistics.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

std::string MetricNames() {
  std::vector<std::string_view> names;
  for (const MetricInfo& info : AllMetrics()) names.push_back(info.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

bool Breaks(const BenchLimit& limit, double value, double bound) {
  return limit.at_most ? value > bound : value < bound;
}

// Returns how the figures break the limit; "" if they do not.
std::string BreakOf(const BenchLimit& limit, const CheckpointFigures& figures,
                    const BenchFigures* baseline) {
  const MetricInfo& info = InfoOf(limit.metric);
  const std::string name = NameOf(figures.config);
  if (!figures.voided.empty()) {
    return fmt::format("{}: {} is void", limit.text, name);
  }
  const TrialValues& values = figures.of(limit.metric);
  if (values.empty()) {
    return fmt::format("{}: {} was not measured", limit.text, name);
  }
  const double median = MedianOf(values);
  double bound = limit.value;
  std::string in_baseline;
  if (limit.times_baseline) {
    const TrialValues* const before =
        baseline == nullptr ? nullptr : baseline->Find(name, limit.metric);
    if (before == nullptr) {
      return fmt::format("{}: {} is not in the baseline", limit.text, name);
    }
    if (MannWhitneyP(values, *before) >= kSignificance) return "";
    bound *= MedianOf(*before);
    in_baseline = fmt::format(", {} in the baseline",
                              MetricText(info.unit, MedianOf(*before)));
  }
  if (!Breaks(limit, median, bound)) return "";
  return fmt::format("{}: {} in {}{}", limit.text,
                     MetricText(info.unit, median), name, in_baseline);
}

bool IsAbout(const BenchLimit& limit, const CheckpointConfig& config) {
  if (limit.mode) return *limit.mode == ModeName(config.mode);
  return config.mode.has_value() || IsOfAllRuns(limit.metric);
}

constexpr std::string_view kSameOptions =
    "measure the baseline with the same --modes, --state, --every, --workers "
    "and --shards";

// Returns true iff the baseline has one of the configurations. Runs without
// checkpoints count only if nothing else is measured.
bool HasConfiguration(const BenchFigures& baseline,
                      const std::vector<CheckpointConfig>& measured) {
  const bool saves = std::ranges::any_of(
      measured,
      [](const CheckpointConfig& config) { return config.mode.has_value(); });
  return std::ranges::any_of(measured, [&](const CheckpointConfig& config) {
    return config.mode.has_value() == saves &&
           baseline.values.contains(NameOf(config));
  });
}

}  // namespace

bool IsOfAllRuns(Metric metric) {
  return metric == Metric::kStep || metric == Metric::kCpu ||
         metric == Metric::kMemory;
}

Result<BenchLimit> ParseBenchLimit(std::string_view text) {
  BenchLimit limit;
  limit.text = text;
  size_t relation = text.find("<=");
  if (relation == text.npos) {
    relation = text.find(">=");
    limit.at_most = false;
  }
  if (relation == text.npos) {
    return InvalidArgument(
        fmt::format("expected [MODE.]METRIC<=VALUE or >=, found '{}'", text));
  }
  std::string_view name = text.substr(0, relation);
  if (const size_t dot = name.find('.'); dot != name.npos) {
    limit.mode = std::string(name.substr(0, dot));
    name.remove_prefix(dot + 1);
  }
  const std::optional<Metric> metric = FindMetric(name);
  if (!metric) {
    return InvalidArgument(
        fmt::format("expected a metric ({}), found '{}'", MetricNames(), name));
  }
  limit.metric = *metric;
  std::string_view value = text.substr(relation + 2);
  std::optional<double> number;
  if (value.ends_with('x')) {
    limit.times_baseline = true;
    value.remove_suffix(1);
    number = ParseNumber(value);
  } else {
    number = ParseMetricValue(InfoOf(*metric).unit, value);
  }
  if (!number) {
    return InvalidArgument(fmt::format(
        "{}: expected {}, or a multiple of the baseline such as 1.1x, found "
        "'{}'",
        name, MetricValueForm(InfoOf(*metric).unit),
        text.substr(relation + 2)));
  }
  limit.value = *number;
  return limit;
}

Status CheckBaseline(const BenchFigures& baseline,
                     const std::vector<BenchLimit>& limits,
                     const std::vector<CheckpointConfig>& measured) {
  for (const BenchLimit& limit : limits) {
    if (!limit.times_baseline) continue;
    for (const CheckpointConfig& config : measured) {
      if (!IsAbout(limit, config)) continue;
      const TrialValues* const values =
          baseline.Find(NameOf(config), limit.metric);
      const size_t trials = values == nullptr ? 0 : values->size();
      if (trials >= kLeastTrials) continue;
      return InvalidArgument(fmt::format(
          "--limit {}: expected at least {} trials of {} in the baseline, "
          "found {}; {}",
          limit.text, kLeastTrials, NameOf(config), trials, kSameOptions));
    }
  }
  if (HasConfiguration(baseline, measured)) return OkStatus();
  return InvalidArgument(fmt::format(
      "--baseline: expected a configuration that is measured now, such as {}, "
      "found none; {}",
      NameOf(measured.back()), kSameOptions));
}

std::vector<std::string> BrokenLimits(const CheckpointResult& result,
                                      const std::vector<BenchLimit>& limits,
                                      const BenchFigures* baseline) {
  std::vector<std::string> broken;
  for (const BenchLimit& limit : limits) {
    for (const CheckpointFigures& figures : result.figures) {
      if (!IsAbout(limit, figures.config)) continue;
      std::string line = BreakOf(limit, figures, baseline);
      if (!line.empty()) broken.push_back(std::move(line));
    }
  }
  return broken;
}

}  // namespace gauntlet
