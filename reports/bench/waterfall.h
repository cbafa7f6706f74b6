// Bars whose parts follow each other: where the time of a recovery goes.
#ifndef GAUNTLET_REPORTS_BENCH_WATERFALL_H_
#define GAUNTLET_REPORTS_BENCH_WATERFALL_H_

#include <string>
#include <string_view>
#include <vector>

namespace gauntlet {

struct WaterfallRow {
  std::string name;             // plain text
  std::vector<double> seconds;  // by part
};

struct Waterfall {
  std::string title;
  std::vector<std::string> parts;  // names, at most six
  std::vector<WaterfallRow> rows;
};

// A <figure>; "" without rows.
std::string RenderWaterfall(const Waterfall& waterfall);

extern const std::string_view kWaterfallStyle;

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_BENCH_WATERFALL_H_
