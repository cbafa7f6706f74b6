#include "reports/bench/waterfall.h"

#include <algorithm>
#include <numeric>

#include "harness/bench/figures/metric_text.h"
#include "reports/html/page/text.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

double TotalOf(const WaterfallRow& row) {
  return std::accumulate(row.seconds.begin(), row.seconds.end(), 0.0);
}

std::string RenderRow(const Waterfall& waterfall, const WaterfallRow& row,
                      double longest) {
  std::string bars;
  for (size_t i = 0; i < row.seconds.size(); ++i) {
    bars += fmt::format(
        "<span class=\"part-{}\" style=\"width: {:.2f}%\" title=\"{}: {}\">"
        "</span>",
        i, 100.0 * row.seconds[i] / longest, HtmlText(waterfall.parts.at(i)),
        MetricText(MetricUnit::kSeconds, row.seconds[i]));
  }
  return fmt::format(
      "<div class=\"row\"><span class=\"name\">{}</span><span "
      "class=\"bars\">{}</span><span class=\"total\">{}</span></div>\n",
      HtmlText(row.name), bars, MetricText(MetricUnit::kSeconds, TotalOf(row)));
}

}  // namespace

std::string RenderWaterfall(const Waterfall& waterfall) {
  if (waterfall.rows.empty()) return "";
  double longest = 1e-9;
  for (const WaterfallRow& row : waterfall.rows) {
    longest = std::max(longest, TotalOf(row));
  }
  std::string legend;
  for (size_t i = 0; i < waterfall.parts.size(); ++i) {
    legend += fmt::format(
        "<span class=\"bench-key\"><span class=\"part-{}\"></span>{}</span> ",
        i, HtmlText(waterfall.parts[i]));
  }
  std::string rows;
  for (const WaterfallRow& row : waterfall.rows) {
    rows += RenderRow(waterfall, row, longest);
  }
  return fmt::format(
      "<figure class=\"waterfall\"><figcaption>{}<br><span class=\"keys\">{}"
      "</span></figcaption>\n{}</figure>\n",
      HtmlText(waterfall.title), legend, rows);
}

const std::string_view kWaterfallStyle = R"css(
.waterfall { margin: 12px 0; max-width: 900px; }
.waterfall figcaption { font-size: 14px; font-weight: 600; }
.waterfall .keys { font-weight: 400; font-size: 13px; }
.waterfall .bench-key { display: inline-block; margin-right: 12px; }
.waterfall .bench-key span { display: inline-block; width: 12px; height: 10px;
  margin-right: 5px; }
.waterfall .row { display: flex; align-items: center; gap: 10px;
  margin: 4px 0; font-size: 13px; }
.waterfall .name { flex: 0 0 84px; }
.waterfall .bars { flex: 1 1 auto; display: flex; height: 16px; }
.waterfall .bars span { height: 100%; min-width: 1px; }
.waterfall .total { flex: 0 0 72px; text-align: right; }
.waterfall .part-0 { background: var(--bad); }
.waterfall .part-1 { background: var(--again); }
.waterfall .part-2 { background: var(--bar-line); }
.waterfall .part-3 { background: var(--good); }
.waterfall .part-4 { background: var(--notice); }
.waterfall .part-5 { background: var(--muted); }
)css";

}  // namespace gauntlet
