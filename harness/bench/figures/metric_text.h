// Values of metrics as text, in reports and in limits.
#ifndef GAUNTLET_HARNESS_BENCH_FIGURES_METRIC_TEXT_H_
#define GAUNTLET_HARNESS_BENCH_FIGURES_METRIC_TEXT_H_

#include <optional>
#include <string>
#include <string_view>

#include "harness/bench/figures/checkpoint_metrics.h"

namespace gauntlet {

// Returns "1.23 ms", "12.0 MB", "1.4 GB/s" or "3.1 %": three digits.
std::string MetricText(MetricUnit unit, double value);

// Returns "1.20-1.31 ms", in the unit of the greater value.
std::string MetricRangeText(MetricUnit unit, double low, double high);

// Parses "3%" or "0.03", "1.5ms", "10MB", "1.2GB/s"; nullopt if the text is not
// a value of this unit.
std::optional<double> ParseMetricValue(MetricUnit unit, std::string_view text);

// Returns the expected form of a value, for messages: "a time such as 1.5ms".
std::string_view MetricValueForm(MetricUnit unit);

// Returns a duration in seconds as "24h" or "1h30m".
std::string LongTimeText(double seconds);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_BENCH_FIGURES_METRIC_TEXT_H_
