// JSON in Google Benchmark's format.
#ifndef GAUNTLET_HARNESS_BENCH_FIGURES_BENCHMARK_JSON_H_
#define GAUNTLET_HARNESS_BENCH_FIGURES_BENCHMARK_JSON_H_

#include <string>
#include <string_view>

#include "harness/bench/figures/checkpoint_result.h"
#include <nlohmann/json_fwd.hpp>

namespace gauntlet {

// Returns the fields that all entries of a run have. `type`: "iteration" or
// "aggregate"; `suffix` distinguishes the aggregates of a run.
nlohmann::ordered_json BenchmarkEntry(const std::string& run,
                                      std::string_view suffix,
                                      std::string_view type);

// Adds the real time and the CPU time, both in seconds.
void AddBenchmarkTimes(nlohmann::ordered_json& entry, double real, double cpu);

// Returns the value of an entry's "goodput_run".
nlohmann::ordered_json MeasuredGoodputToJson(const MeasuredGoodput& goodput);

// Returns the text of the whole file.
std::string BenchmarkFile(nlohmann::ordered_json context,
                          nlohmann::ordered_json entries);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_BENCH_FIGURES_BENCHMARK_JSON_H_
