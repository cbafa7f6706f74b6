#include "reports/bench/scale_page.h"

#include <array>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "engine/text/counted.h"
#include "harness/bench/figures/metric_text.h"
#include "harness/bench/figures/scale_text.h"
#include "reports/bench/goodput_plot.h"
#include "reports/bench/xy_plot.h"
#include "reports/html/page/list_table.h"
#include "reports/html/page/page.h"
#include "reports/html/page/text.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

using UsableClusters = std::vector<const ScaleFigures*>;

const ScaleMetricInfo& ScaleInfoOf(ScaleMetric metric) {
  return AllScaleMetrics()[static_cast<size_t>(metric)];
}

std::string ScaleHead(const ScaleResult& result) {
  const BenchContext& context = result.context;
  std::string html = fmt::format(
      "<h1>How a cluster behaves as it grows</h1>\n<p>{}, gauntlet {}. "
      "Simulated: {}. Times are virtual.</p>\n",
      HtmlText(context.date), HtmlText(context.version),
      HtmlText(ScaleSetupText(result.setup)));
  if (result.figures.empty()) html += "<p>No cluster finished.</p>\n";
  for (const ScaleFigures& figures : result.figures) {
    if (figures.voided.empty()) continue;
    html += fmt::format("<p><strong>Void:</strong> {} workers: {}</p>\n",
                        figures.workers, HtmlText(figures.voided));
  }
  if (result.interrupted) {
    html += "<p>Interrupted: the figures cover the finished clusters.</p>\n";
  }
  return html;
}

std::string ScaleTable(const UsableClusters& usable) {
  if (usable.empty()) return "";
  std::vector<std::string> titles;
  for (const ScaleFigures* figures : usable) {
    titles.push_back(
        Counted(static_cast<uint64_t>(figures->workers), "worker"));
  }
  std::vector<ListColumn> columns = {{"figure"}};
  for (const std::string& title : titles) columns.push_back({title, "number"});
  const bool grows = usable.size() > 1;
  if (grows) columns.push_back({"grows like", "number"});
  ListTable table("Figures", std::move(columns));
  for (const ScaleMetricInfo& info : AllScaleMetrics()) {
    std::vector<std::string> cells = {HtmlText(info.name)};
    for (const ScaleFigures* figures : usable) {
      cells.push_back(
          HtmlText(ScaleMetricText(info, figures->of(info.metric))));
    }
    if (grows) cells.push_back(ScaleGrowthText(usable, info.metric));
    table.Add(cells);
  }
  return table.Render();
}

std::string ScaleMeaningsTable() {
  ListTable table("Meanings", {{"figure"}, {"meaning", "wide"}});
  for (const ScaleMetricInfo& info : AllScaleMetrics()) {
    table.Add({HtmlText(info.name), HtmlText(info.meaning)});
  }
  return table.Render();
}

// Returns a series for each metric, with the values above 0: the axis is
// logarithmic.
std::vector<PlotSeries> GrowthSeries(const UsableClusters& usable,
                                     std::span<const ScaleMetric> metrics) {
  std::vector<PlotSeries> series;
  for (const ScaleMetric metric : metrics) {
    PlotSeries one = {.name = std::string(ScaleInfoOf(metric).name),
                      .points = {}};
    for (const ScaleFigures* figures : usable) {
      const double value = figures->of(metric);
      if (value <= 0) continue;
      one.points.push_back({.x = static_cast<double>(figures->workers),
                            .y = value,
                            .low = value,
                            .high = value});
    }
    series.push_back(std::move(one));
  }
  return series;
}

// Returns a log-log plot against the number of workers. The metrics, one to
// six, have the same unit.
std::string GrowthPlot(const UsableClusters& usable, std::string title,
                       std::string y_name,
                       std::span<const ScaleMetric> metrics) {
  if (usable.size() < 2) return "";
  const ScaleMetricInfo& info = ScaleInfoOf(metrics.front());
  return RenderXyPlot(
      {.title = std::move(title),
       .x_name = "workers",
       .y_name = std::move(y_name),
       .x_axis = PlotAxis::kLogarithmic,
       .y_axis = PlotAxis::kLogarithmic,
       .x_text =
           [](double workers) {
             return fmt::format("{:.0f}", std::round(workers));
           },
       .y_text = [&info](double value) { return ScaleMetricText(info, value); },
       .series = GrowthSeries(usable, metrics)});
}

std::string GrowthPlots(const UsableClusters& usable) {
  using enum ScaleMetric;
  constexpr std::array kTimes = {kForm,   kStep,    kSave,
                                 kDetect, kRestart, kRejoin};
  constexpr std::array kMessages = {kFormMessages, kStepMessages,
                                    kRestartMessages};
  constexpr std::array kMemories = {kMemory};
  return GrowthPlot(usable, "Times against workers", "virtual time", kTimes) +
         GrowthPlot(usable, "Messages of a worker against workers",
                    "messages of a worker", kMessages) +
         GrowthPlot(usable, "Memory of the simulation against workers",
                    "memory for each worker", kMemories);
}

std::string ScaleGoodputPart(const UsableClusters& usable) {
  std::string html;
  for (const ScaleFigures* figures : usable) {
    if (!figures->goodput) continue;
    const MeasuredGoodput& goodput = *figures->goodput;
    html += fmt::format(
        "<p>{}.</p>\n<div class=\"plots\">\n{}</div>\n",
        HtmlText(ScaleGoodputText(*figures)),
        RenderGoodputPlot(
            goodput,
            fmt::format("Goodput under {}: {} workers",
                        Counted(goodput.kills, "failure"), figures->workers),
            "Young-Daly"));
  }
  return html;
}

}  // namespace

std::string RenderScalePage(const ScaleResult& result) {
  const UsableClusters usable = UsableFigures(result);
  const std::string table = ScaleTable(usable);
  const std::string plots = GrowthPlots(usable);
  const std::string body =
      ScaleHead(result) +
      HtmlSection(
          "growth", "Growth",
          plots.empty() ? "" : "<div class=\"plots\">\n" + plots + "</div>\n") +
      HtmlSection("figures", "Figures",
                  table.empty()
                      ? ""
                      : table + "<p>" +
                            HtmlText(ScaleFailureRateText(result.setup)) +
                            ".</p>\n") +
      HtmlSection("goodput", "Goodput", ScaleGoodputPart(usable)) +
      HtmlSection("meanings", "Meanings", ScaleMeaningsTable());
  return HtmlPage("Gauntlet: how a cluster behaves as it grows",
                  "<main>\n" + body + "</main>\n",
                  std::string(kListTableStyle) + std::string(kXyPlotStyle));
}

}  // namespace gauntlet
