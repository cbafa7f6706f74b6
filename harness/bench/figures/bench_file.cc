#include "harness/bench/figures/bench_file.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "engine/utf8.h"
#include "harness/bench/figures/benchmark_json.h"
#include "harness/bench/figures/statistics.h"
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace gauntlet {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kExecutable = "gauntlet bench checkpoint";

Json CheckpointContextToJson(const CheckpointResult& result) {
  const BenchContext& context = result.context;
  Json json = {{"date", context.date},
               {"host_name", context.host},
               {"executable", kExecutable},
               {"num_cpus", context.cpus},
               {"cpu", context.cpu},
               {"file_system", context.file_system},
               {"gauntlet_version", context.version},
               {"between_failures_seconds", result.between_failures},
               {"interrupted", result.interrupted}};
  if (!result.failure.empty()) json["failure"] = result.failure;
  return json;
}

void AddConfig(Json& entry, const CheckpointConfig& config) {
  entry["threads"] = config.workers;
  entry["mode"] = ModeName(config.mode);
  entry["state_bytes"] = config.state_bytes;
  entry["every"] = config.every;
  entry["workers"] = config.workers;
  if (config.shards > 0) entry["shards"] = config.shards;
}

double ValueAt(const CheckpointFigures& figures, Metric metric, size_t trial) {
  const TrialValues& values = figures.of(metric);
  return trial < values.size() ? values[trial] : 0.0;
}

void AddTrials(Json& entries, const CheckpointFigures& figures) {
  const std::string name = NameOf(figures.config);
  const size_t trials = figures.of(Metric::kStep).size();
  for (size_t trial = 0; trial < trials; ++trial) {
    Json entry = BenchmarkEntry(name, "", "iteration");
    entry["repetitions"] = trials;
    entry["repetition_index"] = trial;
    AddConfig(entry, figures.config);
    entry["iterations"] = 1;
    AddBenchmarkTimes(entry, ValueAt(figures, Metric::kStep, trial),
                      ValueAt(figures, Metric::kCpu, trial));
    for (const MetricInfo& info : AllMetrics()) {
      if (info.metric == Metric::kGoodput) continue;  // only in goodput_run
      const TrialValues& values = figures.of(info.metric);
      if (trial < values.size()) entry[std::string(info.name)] = values[trial];
    }
    entries.push_back(std::move(entry));
  }
}

void AddAggregates(Json& entries, const CheckpointFigures& figures) {
  struct Aggregate {
    std::string_view name;
    double MedianInterval::*value;
  };
  constexpr std::array kAggregates = {
      Aggregate{"median", &MedianInterval::median},
      Aggregate{"low95", &MedianInterval::low},
      Aggregate{"high95", &MedianInterval::high}};
  const std::string name = NameOf(figures.config);
  // Fewer trials have no confidence interval.
  const bool has_interval = figures.of(Metric::kStep).size() >= kLeastTrials;
  const auto aggregates =
      std::span(kAggregates).first(has_interval ? kAggregates.size() : 1);
  for (const Aggregate& aggregate : aggregates) {
    Json entry =
        BenchmarkEntry(name, "_" + std::string(aggregate.name), "aggregate");
    entry["repetitions"] = figures.of(Metric::kStep).size();
    AddConfig(entry, figures.config);
    entry["aggregate_name"] = aggregate.name;
    entry["aggregate_unit"] = "time";
    entry["iterations"] = figures.of(Metric::kStep).size();
    const auto value_of = [&](Metric metric) {
      const TrialValues& values = figures.of(metric);
      return values.empty() ? 0.0 : MedianIntervalOf(values).*aggregate.value;
    };
    AddBenchmarkTimes(entry, value_of(Metric::kStep), value_of(Metric::kCpu));
    for (const MetricInfo& info : AllMetrics()) {
      if (figures.of(info.metric).empty() || info.metric == Metric::kGoodput) {
        continue;
      }
      entry[std::string(info.name)] = value_of(info.metric);
    }
    if (figures.goodput) {
      entry["goodput_run"] = MeasuredGoodputToJson(*figures.goodput);
    } else if (!figures.goodput_missing.empty()) {
      entry["goodput_missing"] = figures.goodput_missing;
    }
    entries.push_back(std::move(entry));
  }
}

// Returns an entry in the form in which Google Benchmark reports a failed
// benchmark.
Json VoidEntry(const CheckpointFigures& figures) {
  Json entry = BenchmarkEntry(NameOf(figures.config), "", "iteration");
  AddConfig(entry, figures.config);
  entry["error_occurred"] = true;
  entry["error_message"] = figures.voided;
  return entry;
}

void AddMachine(Json& entries, const MachineFigures& machine) {
  for (size_t i = 0; i < kMachineLimits; ++i) {
    if (machine.values[i].empty()) continue;
    const double rate = MedianOf(machine.values[i]);
    const std::string name = fmt::format(
        "machine/{}/bytes:{}", MachineLimitName(static_cast<MachineLimit>(i)),
        machine.bytes);
    Json entry = BenchmarkEntry(name, "_median", "aggregate");
    entry["repetitions"] = machine.values[i].size();
    entry["threads"] = 1;
    entry["aggregate_name"] = "median";
    entry["aggregate_unit"] = "time";
    entry["iterations"] = machine.values[i].size();
    const double seconds = static_cast<double>(machine.bytes) / rate;
    AddBenchmarkTimes(entry, seconds, seconds);
    entry["bytes_per_second"] = rate;
    entries.push_back(std::move(entry));
  }
}

Parsed<BenchFigures> Refuse(std::string_view name, std::string_view found) {
  return {.value = std::nullopt,
          .error = fmt::format("{}: expected the JSON of {}, found {}", name,
                               kExecutable, EscapeBytes(found))};
}

std::string TextOf(const Json& json, const char* key) {
  const auto field = json.find(key);
  return field != json.end() && field->is_string() ? field->get<std::string>()
                                                   : "";
}

// Reads the trial of an entry. Returns the mistake in the entry; "" if there is
// none.
std::string ReadTrial(const Json& entry, BenchFigures& figures) {
  if (!entry.is_object()) return "a benchmark that is no object";
  if (TextOf(entry, "run_type") != "iteration" ||
      entry.contains("error_occurred")) {
    return "";
  }
  const std::string name = TextOf(entry, "name");
  if (name.empty()) return "a benchmark without a name";
  for (const MetricInfo& info : AllMetrics()) {
    const auto value = entry.find(std::string(info.name));
    if (value == entry.end()) continue;
    if (!value->is_number()) {
      return fmt::format("{}: {}: no number", name, info.name);
    }
    if (value->get<double>() < 0 && !IsDifference(info.metric)) {
      return fmt::format("{}: {}: a number below 0", name, info.name);
    }
    figures.values[name][static_cast<size_t>(info.metric)].push_back(
        value->get<double>());
  }
  return "";
}

}  // namespace

std::string CheckpointResultToJson(const CheckpointResult& result) {
  Json entries = Json::array();
  for (const CheckpointFigures& figures : result.figures) {
    if (!figures.voided.empty()) {
      entries.push_back(VoidEntry(figures));
      continue;
    }
    AddTrials(entries, figures);
    AddAggregates(entries, figures);
  }
  for (const MachineFigures& machine : result.machine) {
    AddMachine(entries, machine);
  }
  return BenchmarkFile(CheckpointContextToJson(result), std::move(entries));
}

const TrialValues* BenchFigures::Find(const std::string& name,
                                      Metric metric) const {
  const auto found = values.find(name);
  if (found == values.end()) return nullptr;
  const TrialValues& trials = found->second[static_cast<size_t>(metric)];
  return trials.empty() ? nullptr : &trials;
}

Parsed<BenchFigures> ReadBenchFigures(std::string_view json,
                                      std::string_view name) {
  // Deep nesting cannot overflow the stack: Json's parser is not recursive, and
  // nothing deeply nested is copied or written.
  const Json parsed = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!parsed.is_object()) return Refuse(name, "no JSON object");
  const auto context = parsed.find("context");
  if (context == parsed.end() || !context->is_object()) {
    return Refuse(name, "no context");
  }
  if (TextOf(*context, "executable") != kExecutable) {
    return Refuse(name, fmt::format("'{}' as the executable of its context",
                                    TextOf(*context, "executable")));
  }
  BenchFigures figures;
  figures.context = {.date = TextOf(*context, "date"),
                     .host = TextOf(*context, "host_name"),
                     .cpu = TextOf(*context, "cpu"),
                     .cpus = 0,
                     .version = TextOf(*context, "gauntlet_version"),
                     .file_system = TextOf(*context, "file_system")};
  const auto cpus = context->find("num_cpus");
  if (cpus != context->end() && cpus->is_number_integer()) {
    figures.context.cpus = cpus->get<int>();
  }
  const auto benchmarks = parsed.find("benchmarks");
  if (benchmarks == parsed.end() || !benchmarks->is_array()) {
    return Refuse(name, "no list of benchmarks");
  }
  for (const Json& entry : *benchmarks) {
    const std::string wrong = ReadTrial(entry, figures);
    if (!wrong.empty()) return Refuse(name, wrong);
  }
  if (figures.values.empty()) return Refuse(name, "no trials");
  return {.value = std::move(figures), .error = ""};
}

std::string ContextDifference(const BenchContext& baseline,
                              const BenchContext& present) {
  std::vector<std::string> differences;
  const auto compare = [&](std::string_view what, const auto& before,
                           const auto& now) {
    if (before == now) return;
    differences.push_back(
        fmt::format("{}: {} in the baseline, {} now", what, before, now));
  };
  compare("host", baseline.host, present.host);
  compare("cpu", baseline.cpu, present.cpu);
  compare("cores", baseline.cpus, present.cpus);
  compare("file system", baseline.file_system, present.file_system);
  compare("version", baseline.version, present.version);
  if (differences.empty()) return "";
  return fmt::format(
      "{}; measure a new baseline on this machine, with this version: --out "
      "DIR without --baseline",
      fmt::join(differences, "; "));
}

}  // namespace gauntlet
