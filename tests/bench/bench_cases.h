// The case that benchmarks time: `tiny` on a cluster of four workers.
#ifndef GAUNTLET_TESTS_BENCH_BENCH_CASES_H_
#define GAUNTLET_TESTS_BENCH_BENCH_CASES_H_

#include <string>

#include "harness/scenario/scenario.h"

namespace gauntlet {

// Returns a case of 24 steps with a save every six. `rest` completes the text
// of the scenario.
inline Case BenchCase(const std::string& rest) {
  const std::string text = R"(schema: gauntlet/v2
name: bench
preset: tiny
cluster: {workers: 4}
expect: {outcome: completes}
)" + rest;
  return LoadScenarios(text, "bench.yaml").cases.at(0);
}

inline Case IncarnationsCase(const std::string& rest = "") {
  return BenchCase(R"(job: {epochs: 4, replicas: 4}
checkpoint: {every: {steps: 6}, keep: 3}
)" + rest);
}

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_BENCH_BENCH_CASES_H_
