#include "harness/cli/bench/bench_scale_text.h"

#include <utility>
#include <vector>

#include "engine/cli/terminal/text_table.h"
#include "harness/bench/figures/scale_text.h"
#include <fmt/format.h>

namespace gauntlet {

std::string ScaleResultToText(const ScaleResult& result) {
  std::string text =
      fmt::format("simulated: {}\n", ScaleSetupText(result.setup));
  for (const ScaleFigures& figures : result.figures) {
    if (figures.voided.empty()) continue;
    text +=
        fmt::format("{} workers: VOID: {}\n", figures.workers, figures.voided);
  }
  const std::vector<const ScaleFigures*> usable = UsableFigures(result);
  TextTable table;
  std::vector<std::string> head = {"workers"};
  for (const ScaleFigures* figures : usable) {
    head.push_back(std::to_string(figures->workers));
  }
  head.emplace_back(usable.size() < 2 ? "" : "grows like");
  table.AddRow(std::move(head));
  for (const ScaleMetricInfo& info : AllScaleMetrics()) {
    std::vector<std::string> row = {std::string(info.name)};
    for (const ScaleFigures* figures : usable) {
      row.push_back(ScaleMetricText(info, figures->of(info.metric)));
    }
    row.push_back(ScaleGrowthText(usable, info.metric));
    table.AddRow(std::move(row));
  }
  if (!usable.empty()) text += table.Render();
  text += ScaleFailureRateText(result.setup) + "\n";
  for (const ScaleFigures* figures : usable) {
    if (figures->goodput) text += ScaleGoodputText(*figures) + "\n";
  }
  return text;
}

}  // namespace gauntlet
