// Limits on the figures of a benchmark: "async.overhead<=3%".
#ifndef GAUNTLET_HARNESS_BENCH_FIGURES_BENCH_LIMIT_H_
#define GAUNTLET_HARNESS_BENCH_FIGURES_BENCH_LIMIT_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/status.h"
#include "harness/bench/figures/bench_file.h"
#include "harness/bench/figures/checkpoint_result.h"

namespace gauntlet {

// A limit for the median of a metric, in all configurations of a mode.
struct BenchLimit {
  std::string text;                 // as the user wrote it
  std::optional<std::string> mode;  // nullopt: all modes that have the metric
  Metric metric = Metric::kStep;
  bool at_most = true;
  double value = 0;
  bool times_baseline = false;  // `value` times the baseline's median
};

// Parses "[MODE.]METRIC<=VALUE" or ">=". VALUE is in the metric's unit, or
// "1.1x" for a multiple of the baseline. kInvalidArgument states what is wrong
// with the text.
Result<BenchLimit> ParseBenchLimit(std::string_view text);

// Returns true iff runs without checkpoints have this metric too.
bool IsOfAllRuns(Metric metric);

// Checks that the baseline has at least kLeastTrials trials of each figure that
// a limit multiplies, and one of the configurations that are measured now
// (`measured`): one with saves, if some are. kInvalidArgument: trials or
// configurations are missing.
Status CheckBaseline(const BenchFigures& baseline,
                     const std::vector<BenchLimit>& limits,
                     const std::vector<CheckpointConfig>& measured);

// Returns a line for each figure that breaks a limit: "async.overhead<=3%: 4.2
// % in checkpoint/async/…". A multiple of the baseline is broken only if the
// difference is significant as well (kSignificance). If a figure is missing or
// unusable, a limit on it counts as broken.
std::vector<std::string> BrokenLimits(const CheckpointResult& result,
                                      const std::vector<BenchLimit>& limits,
                                      const BenchFigures* baseline);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_BENCH_FIGURES_BENCH_LIMIT_H_
