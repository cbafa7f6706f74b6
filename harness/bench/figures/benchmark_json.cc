#include "harness/bench/figures/benchmark_json.h"

#include <utility>

#include <nlohmann/json.hpp>

namespace gauntlet {

using Json = nlohmann::ordered_json;

Json BenchmarkEntry(const std::string& run, std::string_view suffix,
                    std::string_view type) {
  return {{"name", run + std::string(suffix)},
          {"run_name", run},
          {"run_type", type}};
}

void AddBenchmarkTimes(Json& entry, double real, double cpu) {
  constexpr double kMsPerSecond = 1e3;
  entry["real_time"] = real * kMsPerSecond;
  entry["cpu_time"] = cpu * kMsPerSecond;
  entry["time_unit"] = "ms";
}

Json MeasuredGoodputToJson(const MeasuredGoodput& goodput) {
  return {{"measured", goodput.measured},
          {"expected", goodput.expected},
          {"kills", goodput.kills},
          {"seconds", goodput.seconds},
          {"interval_seconds", goodput.interval},
          {"between_failures_seconds", goodput.model.between_failures},
          {"save_cost_seconds", goodput.model.save_cost},
          {"durable_after_seconds", goodput.model.durable_after},
          {"downtime_seconds", goodput.model.downtime}};
}

std::string BenchmarkFile(Json context, Json entries) {
  const Json json = {{"context", std::move(context)},
                     {"benchmarks", std::move(entries)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace gauntlet
