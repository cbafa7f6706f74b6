// A measured goodput, for tests of the pages of benchmarks.
#ifndef GAUNTLET_TESTS_REPORTS_SAMPLE_GOODPUT_H_
#define GAUNTLET_TESTS_REPORTS_SAMPLE_GOODPUT_H_

#include "harness/bench/figures/checkpoint_result.h"

namespace gauntlet {

inline constexpr MeasuredGoodput kSampleGoodput = {
    .measured = 0.8,
    .expected = 0.81,
    .kills = 50,
    .seconds = 100,
    .interval = 0.1,
    .model = {.between_failures = 2, .save_cost = 0.01, .downtime = 0.3}};

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_REPORTS_SAMPLE_GOODPUT_H_
