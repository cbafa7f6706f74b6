#include "harness/cli/bench/bench_scale_text.h"

#include <utility>
#include <vector>

#include "engine/cli/terminal/text_table.h"
#include "engine/text/units.h"
#include "harness/bench/figures/byte_text.h"
#include "harness/bench/figures/metric_text.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

std::string SetupText(const ScaleSetup& setup) {
  const LatencyRange& one_way = setup.link.one_way;
  return fmt::format(
      "simulated: a step computes {}; a message takes {} to {} and {}/s; seed "
      "{}\n",
      DurationToText(setup.step_time), DurationToText(one_way.min),
      DurationToText(one_way.max), ByteText(setup.link.bytes_per_second),
      setup.seed);
}

// Returns the growth between the two largest clusters with figures, as
// "N^0.98".
std::string GrowthCell(const std::vector<const ScaleFigures*>& measured,
                       ScaleMetric metric) {
  if (measured.size() < 2) return "";
  const ScaleFigures& small = *measured[measured.size() - 2];
  const ScaleFigures& large = *measured.back();
  if (small.of(metric) <= 0 || large.of(metric) <= 0) return "";
  return fmt::format("N^{:.2f}", GrowthBetween(small, large, metric));
}

std::string ScaleGoodputText(const ScaleFigures& figures) {
  const MeasuredGoodput& goodput = *figures.goodput;
  return fmt::format(
      "goodput with {} workers and {} crashes in {} of virtual time, a save "
      "every {}: measured {}, Daly's formula {}\n",
      figures.workers, goodput.kills,
      MetricText(MetricUnit::kSeconds, goodput.seconds),
      MetricText(MetricUnit::kSeconds, goodput.interval),
      MetricText(MetricUnit::kRatio, goodput.measured),
      MetricText(MetricUnit::kRatio, goodput.expected));
}

}  // namespace

std::string ScaleResultToText(const ScaleResult& result) {
  std::string text = SetupText(result.setup);
  std::vector<const ScaleFigures*> measured;
  for (const ScaleFigures& figures : result.figures) {
    if (figures.voided.empty()) {
      measured.push_back(&figures);
    } else {
      text += fmt::format("{} workers: VOID: {}\n", figures.workers,
                          figures.voided);
    }
  }
  TextTable table;
  std::vector<std::string> head = {"workers"};
  for (const ScaleFigures* figures : measured) {
    head.push_back(std::to_string(figures->workers));
  }
  head.emplace_back(measured.size() < 2 ? "" : "grows like");
  table.AddRow(std::move(head));
  for (const ScaleMetricInfo& info : AllScaleMetrics()) {
    std::vector<std::string> row = {std::string(info.name)};
    for (const ScaleFigures* figures : measured) {
      row.push_back(ScaleMetricText(info, figures->of(info.metric)));
    }
    row.push_back(GrowthCell(measured, info.metric));
    table.AddRow(std::move(row));
  }
  if (!measured.empty()) text += table.Render();
  text += fmt::format(
      "interval, goodput: at one interruption in {} with {} workers\n",
      DurationToText(result.setup.between_failures), result.setup.of_workers);
  for (const ScaleFigures* figures : measured) {
    if (figures->goodput) text += ScaleGoodputText(*figures);
  }
  return text;
}

}  // namespace gauntlet
