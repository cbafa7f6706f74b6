// Values of metrics, as people and limits write them.
#ifndef GAUNTLET_HARNESS_BENCH_FIGURES_METRIC_TEXT_H_
#define GAUNTLET_HARNESS_BENCH_FIGURES_METRIC_TEXT_H_

#include <optional>
#include <string>
#include <string_view>

#include "harness/bench/figures/checkpoint_metrics.h"

namespace gauntlet {

// "1.23 ms", "12.0 MB", "1.4 GB/s", "3.1 %": three digits.
std::string MetricText(MetricUnit unit, double value);

// "1.20-1.31 ms", in the unit of the greater one.
std::string MetricRangeText(MetricUnit unit, double low, double high);

// "3%" or "0.03", "1.5ms", "10MB", "1.2GB/s". nullopt: it is none of this unit.
std::optional<double> ParseMetricValue(MetricUnit unit, std::string_view text);

// How a value of that unit is written, for messages: "a time such as 1.5ms".
std::string_view MetricValueForm(MetricUnit unit);

// Formats a duration in seconds: "24h", "1h30m".
std::string LongTimeText(double seconds);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_BENCH_FIGURES_METRIC_TEXT_H_
