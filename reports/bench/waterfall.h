// Bars of consecutive parts: how the time of a recovery is spent.
#ifndef GAUNTLET_REPORTS_BENCH_WATERFALL_H_
#define GAUNTLET_REPORTS_BENCH_WATERFALL_H_

#include <string>
#include <string_view>
#include <vector>

namespace gauntlet {

struct WaterfallRow {
  std::string name;             // plain text
  std::vector<double> seconds;  // one for each part
};

struct Waterfall {
  std::string title;
  std::vector<std::string> parts;  // names, at most six
  std::vector<WaterfallRow> rows;
};

// Returns a <figure>; "" without rows.
std::string RenderWaterfall(const Waterfall& waterfall);

extern const std::string_view kWaterfallStyle;

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_BENCH_WATERFALL_H_
