#include "reports/bench/bench_page.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "engine/text/counted.h"
#include "harness/bench/figures/byte_text.h"
#include "harness/bench/figures/metric_text.h"
#include "harness/bench/figures/recommendation.h"
#include "harness/bench/figures/statistics.h"
#include "reports/bench/cluster_text.h"
#include "reports/bench/goodput_plot.h"
#include "reports/bench/waterfall.h"
#include "reports/bench/xy_plot.h"
#include "reports/html/page/list_table.h"
#include "reports/html/page/page.h"
#include "reports/html/page/text.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

std::string CellOf(const CheckpointFigures& figures, Metric metric) {
  const TrialValues& values = figures.of(metric);
  if (values.empty()) return "";
  const MetricUnit unit = InfoOf(metric).unit;
  if (values.size() < kLeastTrials) {
    return HtmlText(MetricText(unit, MedianOf(values)));
  }
  const MedianInterval interval = MedianIntervalOf(values);
  return HtmlText(MetricText(unit, interval.median)) +
         "<br><span class=\"muted\">" +
         HtmlText(MetricRangeText(unit, interval.low, interval.high)) +
         "</span>";
}

bool AreOnOneCluster(const CheckpointConfig& a, const CheckpointConfig& b) {
  return a.workers == b.workers && a.shards == b.shards;
}

std::string FiguresTable(const CheckpointResult& result,
                         const std::string& label,
                         std::span<const Metric> metrics) {
  std::vector<ListColumn> columns = {
      {"mode"}, {"state"}, {"every", "number"}, {"cluster"}};
  for (const Metric metric : metrics) {
    columns.push_back({InfoOf(metric).name, "number"});
  }
  ListTable table(label, std::move(columns));
  for (const CheckpointFigures& figures : result.figures) {
    const bool any = std::ranges::any_of(
        metrics, [&](Metric metric) { return !figures.of(metric).empty(); });
    if (!any && figures.voided.empty()) continue;
    const CheckpointConfig& config = figures.config;
    std::vector<std::string> cells = {
        ModeName(config.mode), ByteText(config.state_bytes),
        std::to_string(config.every), ClusterText(config)};
    for (const Metric metric : metrics) {
      cells.push_back(figures.voided.empty() ? CellOf(figures, metric)
                                             : "void");
    }
    table.Add(cells);
  }
  return table.Render();
}

// Returns a series for each mode. It has a point for each configuration that
// `is_in` accepts and that has values of the metric: x is `number` of the
// configuration, y the median of the metric, with its interval.
template <typename Number, typename IsIn>
std::vector<PlotSeries> SeriesOf(const CheckpointResult& result, Metric metric,
                                 const Number& number, const IsIn& is_in) {
  std::vector<PlotSeries> series;
  for (const CheckpointFigures& figures : result.figures) {
    const TrialValues& values = figures.of(metric);
    if (values.empty() || !is_in(figures.config)) continue;
    const std::string name = ModeName(figures.config.mode);
    auto found = std::ranges::find(series, name, &PlotSeries::name);
    if (found == series.end()) {
      series.push_back({.name = name, .points = {}});
      found = series.end() - 1;
    }
    const MedianInterval interval = MedianIntervalOf(values);
    found->points.push_back({.x = number(figures.config),
                             .y = interval.median,
                             .low = interval.low,
                             .high = interval.high});
  }
  for (PlotSeries& one : series) {
    std::ranges::sort(one.points, {}, &PlotPoint::x);
  }
  return series;
}

std::string SecondsText(double seconds) {
  return MetricText(MetricUnit::kSeconds, seconds);
}

std::string StepsText(double steps) {
  return fmt::format("{:.0f}", std::round(steps));
}

std::string BytesText(double bytes) {
  return ByteText(static_cast<uint64_t>(std::llround(bytes)));
}

// Returns the distinct values of a field of the configurations.
template <typename Part>
auto DistinctOf(const CheckpointResult& result, Part CheckpointConfig::*part) {
  std::vector<Part> values;
  for (const CheckpointFigures& figures : result.figures) {
    const Part value = figures.config.*part;
    if (std::ranges::find(values, value) == values.end()) {
      values.push_back(value);
    }
  }
  return values;
}

// Returns one configuration for each distinct cluster.
std::vector<CheckpointConfig> ClustersIn(const CheckpointResult& result) {
  std::vector<CheckpointConfig> clusters;
  for (const CheckpointFigures& figures : result.figures) {
    const bool known =
        std::ranges::any_of(clusters, [&](const CheckpointConfig& one) {
          return AreOnOneCluster(one, figures.config);
        });
    if (!known) clusters.push_back(figures.config);
  }
  return clusters;
}

std::string IntervalPlots(const CheckpointResult& result) {
  if (DistinctOf(result, &CheckpointConfig::every).size() < 2) return "";
  std::string plots;
  for (const uint64_t state :
       DistinctOf(result, &CheckpointConfig::state_bytes)) {
    for (const CheckpointConfig& cluster : ClustersIn(result)) {
      plots += RenderXyPlot(
          {.title = fmt::format("Step against interval: {}, {}",
                                ByteText(state), ClusterText(cluster)),
           .x_name = "steps from save to save",
           .y_name = "time of a step",
           .x_text = StepsText,
           .y_text = SecondsText,
           .series = SeriesOf(
               result, Metric::kStep,
               [](const CheckpointConfig& config) {
                 return static_cast<double>(config.every);
               },
               [&](const CheckpointConfig& config) {
                 return config.state_bytes == state &&
                        AreOnOneCluster(config, cluster);
               })});
    }
  }
  return plots;
}

std::string SizePlots(const CheckpointResult& result) {
  if (DistinctOf(result, &CheckpointConfig::state_bytes).size() < 2) return "";
  std::string plots;
  for (const uint64_t every : DistinctOf(result, &CheckpointConfig::every)) {
    for (const CheckpointConfig& cluster : ClustersIn(result)) {
      plots += RenderXyPlot(
          {.title = fmt::format("Stall against state: a save every {}, {}",
                                Counted(every, "step"), ClusterText(cluster)),
           .x_name = "state",
           .y_name = "stall of a save",
           .x_text = BytesText,
           .y_text = SecondsText,
           .series = SeriesOf(
               result, Metric::kStall,
               [](const CheckpointConfig& config) {
                 return static_cast<double>(config.state_bytes);
               },
               [&](const CheckpointConfig& config) {
                 return config.every == every &&
                        AreOnOneCluster(config, cluster);
               })});
    }
  }
  return plots;
}

std::string GoodputPlots(const CheckpointResult& result) {
  std::string plots;
  for (const CheckpointFigures& figures : result.figures) {
    if (!figures.goodput_missing.empty()) {
      plots += fmt::format("<p>{}: goodput under kills not measured: {}</p>\n",
                           HtmlText(NameOf(figures.config)),
                           HtmlText(figures.goodput_missing));
    }
    if (!figures.goodput) continue;
    const MeasuredGoodput& goodput = *figures.goodput;
    plots += RenderGoodputPlot(
        goodput,
        fmt::format("Goodput under {}: {}", Counted(goodput.kills, "kill"),
                    NameOf(figures.config)),
        ModeName(figures.config.mode) + ", Young-Daly");
  }
  return plots;
}

// Returns "6 trials", or "5 to 6 trials" if some of them have no recovery.
std::string RecoveriesText(const CheckpointResult& result) {
  size_t least = SIZE_MAX;
  size_t most = 0;
  for (const CheckpointFigures& figures : result.figures) {
    const size_t trials = figures.of(Metric::kRecovery).size();
    if (trials == 0) continue;
    least = std::min(least, trials);
    most = std::max(most, trials);
  }
  return (least < most ? fmt::format("{} to ", least) : "") +
         Counted(most, "trial");
}

// Returns the name of the configuration. `names_interval`: the name includes
// the interval between saves.
std::string RecoveryName(const CheckpointConfig& config, bool names_interval) {
  return fmt::format(
      "{} {}, {}{}", ModeName(config.mode), ByteText(config.state_bytes),
      names_interval
          ? fmt::format("a save every {}, ", Counted(config.every, "step"))
          : "",
      ClusterText(config));
}

std::string RecoveryPart(const CheckpointResult& result) {
  Waterfall waterfall = {
      .title = fmt::format("From kill -9 to the first new step: each part is "
                           "the median of {}, the total their sum",
                           RecoveriesText(result)),
      .parts = {},
      .rows = {}};
  const bool names_interval =
      DistinctOf(result, &CheckpointConfig::every).size() > 1;
  for (const Metric part : kRecoveryParts) {
    waterfall.parts.emplace_back(InfoOf(part).name);
  }
  for (const CheckpointFigures& figures : result.figures) {
    if (figures.of(Metric::kRecovery).empty()) continue;
    WaterfallRow row = {.name = RecoveryName(figures.config, names_interval),
                        .seconds = {}};
    for (const Metric part : kRecoveryParts) {
      row.seconds.push_back(std::max(0.0, MedianOf(figures.of(part))));
    }
    waterfall.rows.push_back(std::move(row));
  }
  if (waterfall.rows.empty()) return "";
  constexpr std::array kShown = {Metric::kRecovery, Metric::kDetect,
                                 Metric::kRespawn,  Metric::kJoin,
                                 Metric::kRestore,  Metric::kRecompute};
  return RenderWaterfall(waterfall) + FiguresTable(result, "Recovery", kShown);
}

std::string MachineTable(const CheckpointResult& result) {
  std::vector<ListColumn> columns = {{"bytes"}};
  for (size_t i = 0; i < kMachineLimits; ++i) {
    columns.push_back(
        {MachineLimitName(static_cast<MachineLimit>(i)), "number"});
  }
  ListTable table("Machine", std::move(columns));
  for (const MachineFigures& machine : result.machine) {
    std::vector<std::string> cells = {ByteText(machine.bytes)};
    for (const TrialValues& values : machine.values) {
      cells.push_back(values.empty()
                          ? "none"
                          : HtmlText(MetricText(MetricUnit::kBytesPerSecond,
                                                MedianOf(values))));
    }
    table.Add(cells);
  }
  return table.Render();
}

std::string MeaningsTable() {
  ListTable table("Figures", {{"figure"}, {"meaning", "wide"}});
  for (const MetricInfo& info : AllMetrics()) {
    table.Add({HtmlText(info.name), HtmlText(info.meaning)});
  }
  return table.Render();
}

// Returns "Medians of 6 trials, with 95 % intervals below them.", where 6 is
// the smallest number of trials of any configuration that is not voided. If
// that is too few for intervals, states how many are needed instead. Returns ""
// if all configurations are voided.
std::string MediansText(const CheckpointResult& result) {
  size_t trials = SIZE_MAX;
  for (const CheckpointFigures& figures : result.figures) {
    if (!figures.voided.empty()) continue;
    trials = std::min(trials, figures.of(Metric::kStep).size());
  }
  if (trials == SIZE_MAX) return "";
  std::string text = "Medians of " + Counted(trials, "trial");
  if (trials >= kLeastTrials) return text + ", with 95 % intervals below them.";
  return text + fmt::format("; an interval of 95 % needs {}.", kLeastTrials);
}

std::string RecommendationsTable(const CheckpointResult& result) {
  ListTable table("How often to save", {{"mode"},
                                        {"state"},
                                        {"cluster"},
                                        {"steps from save to save", "number"},
                                        {"time", "number"},
                                        {"expected goodput", "number"}});
  bool any = false;
  for (size_t begin = 0; begin < result.figures.size();) {
    const auto group = GroupAt(result.figures, begin);
    begin += group.size();
    for (const Recommendation& one :
         RecommendationsOf(group, result.between_failures)) {
      any = true;
      table.Add({ModeName(one.config.mode), ByteText(one.config.state_bytes),
                 ClusterText(one.config), std::to_string(one.steps),
                 HtmlText(SecondsText(one.seconds)),
                 fmt::format("{:.2f} %", 100.0 * one.goodput)});
    }
  }
  if (!any) return "";
  return fmt::format(
             "<p>For one failure every {} on average, by the medians "
             "above.</p>\n",
             HtmlText(LongTimeText(result.between_failures))) +
         table.Render();
}

std::string Head(const CheckpointResult& result) {
  const BenchContext& context = result.context;
  const auto voided = std::ranges::count_if(
      result.figures,
      [](const CheckpointFigures& one) { return !one.voided.empty(); });
  std::string html = fmt::format(
      "<h1>What checkpoints cost</h1>\n<p>{} on {}, {} of {}, {}, gauntlet {}."
      "</p>\n<p>{} {}</p>\n",
      HtmlText(context.date), HtmlText(context.host),
      Counted(static_cast<uint64_t>(context.cpus), "core"),
      HtmlText(context.cpu), HtmlText(context.file_system),
      HtmlText(context.version), MediansText(result),
      result.figures.empty() ? "No trial finished."
      : voided == 0
          ? "The trained state of every run is, bit for bit, that of the run "
            "without checkpoints."
          : "Figures are void where the trained state is not that of the run "
            "without checkpoints.");
  for (const CheckpointFigures& figures : result.figures) {
    if (figures.voided.empty()) continue;
    html +=
        fmt::format("<p><strong>Void:</strong> {}: {}</p>\n",
                    HtmlText(NameOf(figures.config)), HtmlText(figures.voided));
  }
  if (result.interrupted) {
    html += "<p>Interrupted: the figures cover the finished trials.</p>\n";
  }
  if (!result.failure.empty()) {
    html += fmt::format(
        "<p>Ended early: {}. These are the trials that were "
        "over.</p>\n",
        HtmlText(result.failure));
  }
  return html;
}

}  // namespace

std::string RenderBenchPage(const CheckpointResult& result) {
  const std::string plots = IntervalPlots(result) + SizePlots(result);
  const std::string goodput = GoodputPlots(result);
  const auto in_plots = [](const std::string& html) {
    return html.empty() ? "" : "<div class=\"plots\">\n" + html + "</div>\n";
  };
  const std::string body =
      Head(result) +
      HtmlSection("costs", "Costs",
                  FiguresTable(result, "Costs", kCostMetrics) +
                      in_plots(plots) +
                      FiguresTable(result, "Resources", kResourceMetrics)) +
      HtmlSection("recovery", "Recovery", RecoveryPart(result)) +
      HtmlSection("interval", "How often to save",
                  RecommendationsTable(result)) +
      HtmlSection("goodput", "Goodput", in_plots(goodput)) +
      HtmlSection("machine", "Machine", MachineTable(result)) +
      HtmlSection("figures", "Figures", MeaningsTable());
  return HtmlPage("Gauntlet: what checkpoints cost",
                  "<main>\n" + body + "</main>\n",
                  std::string(kListTableStyle) + std::string(kXyPlotStyle) +
                      std::string(kWaterfallStyle));
}

}  // namespace gauntlet
