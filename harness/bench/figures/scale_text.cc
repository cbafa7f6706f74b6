#include "harness/bench/figures/scale_text.h"

#include "engine/text/units.h"
#include "harness/bench/figures/byte_text.h"
#include "harness/bench/figures/metric_text.h"
#include <fmt/format.h>

namespace gauntlet {

std::string ScaleSetupText(const ScaleSetup& setup) {
  const LatencyRange& one_way = setup.link.one_way;
  return fmt::format(
      "a step computes {}; a message takes {} to {} and {}/s; seed {}",
      DurationToText(setup.step_time), DurationToText(one_way.min),
      DurationToText(one_way.max), ByteText(setup.link.bytes_per_second),
      setup.seed);
}

std::vector<const ScaleFigures*> UsableFigures(const ScaleResult& result) {
  std::vector<const ScaleFigures*> usable;
  for (const ScaleFigures& figures : result.figures) {
    if (figures.voided.empty()) usable.push_back(&figures);
  }
  return usable;
}

std::string ScaleGrowthText(std::span<const ScaleFigures* const> usable,
                            ScaleMetric metric) {
  if (usable.size() < 2) return "";
  const ScaleFigures& small = *usable[usable.size() - 2];
  const ScaleFigures& large = *usable.back();
  if (small.of(metric) <= 0 || large.of(metric) <= 0) return "";
  const double exponent = GrowthBetween(small, large, metric);
  if (metric == ScaleMetric::kMemory && exponent < 0) return "does not grow";
  return fmt::format("N^{:.2f}", exponent);
}

std::string ScaleFailureRateText(const ScaleSetup& setup) {
  return fmt::format(
      "interval, goodput: at the failure rate of a job with {} workers that is "
      "interrupted once in {}; the rate is proportional to the number of "
      "workers",
      setup.of_workers, DurationToText(setup.between_failures));
}

std::string ScaleGoodputText(const ScaleFigures& figures) {
  const MeasuredGoodput& goodput = *figures.goodput;
  return fmt::format(
      "goodput with {} workers and {} crashes at random times in {} of virtual "
      "time, a save every {}: measured {}, Daly's formula {}",
      figures.workers, goodput.kills,
      MetricText(MetricUnit::kSeconds, goodput.seconds),
      MetricText(MetricUnit::kSeconds, goodput.interval),
      MetricText(MetricUnit::kRatio, goodput.measured),
      MetricText(MetricUnit::kRatio, goodput.expected));
}

}  // namespace gauntlet
