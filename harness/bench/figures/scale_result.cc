#include "harness/bench/figures/scale_result.h"

#include <cmath>

#include "harness/bench/figures/benchmark_json.h"
#include "harness/bench/figures/metric_text.h"
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gauntlet {
namespace {

using enum MetricUnit;

constexpr std::array<ScaleMetricInfo, kScaleMetrics> kScaleMetricInfos = {{
    {ScaleMetric::kForm, "form", kSeconds,
     "from the launcher's start until training begins"},
    {ScaleMetric::kStep, "step", kSeconds,
     "time of a step without a save: --step-time and the exchange"},
    {ScaleMetric::kTreeStep, "tree_step", kSeconds,
     "the same, if a fixed tree over the replicas summed the gradients in "
     "place of the chain: computed from step, not measured"},
    {ScaleMetric::kSave, "save", kSeconds,
     "time that training waits for a save (mode sync)"},
    {ScaleMetric::kDetect, "detect", kSeconds,
     "restart of the whole job: from a crash until the launcher detects it"},
    {ScaleMetric::kRespawn, "respawn", kSeconds,
     "restart: until the new processes run, the pause before included"},
    {ScaleMetric::kJoin, "join", kSeconds,
     "restart: the workers arrive and agree"},
    {ScaleMetric::kRestore, "restore", kSeconds,
     "restart: the checkpoint is claimed, verified and loaded"},
    {ScaleMetric::kRecompute, "recompute", kSeconds,
     "restart: steps since the checkpoint, until the first new one is done"},
    {ScaleMetric::kRestart, "restart", kSeconds,
     "from the crash until the first new step is done: the five above"},
    {ScaleMetric::kRejoin, "rejoin", kSeconds,
     "the same if the lost worker alone starts again and rejoins"},
    {ScaleMetric::kFormMessages, "form_messages", std::nullopt,
     "messages between processes until training begins, for each worker"},
    {ScaleMetric::kStepMessages, "step_messages", std::nullopt,
     "messages in a step, for each worker, heartbeats included"},
    {ScaleMetric::kRestartMessages, "restart_messages", std::nullopt,
     "messages during the restart, for each worker"},
    {ScaleMetric::kMemory, "memory", kBytes,
     "memory that the simulation needs, for each worker"},
    {ScaleMetric::kInterval, "interval", kSeconds,
     "steps from save to save that give the greatest goodput (Daly) at the "
     "stated failure rate"},
    {ScaleMetric::kGoodput, "goodput", kRatio,
     "share of the time that goes to steps which are kept, at that interval "
     "(Daly's formula)"},
}};

using Json = nlohmann::ordered_json;

double SecondsOf(Duration time) {
  return std::chrono::duration<double>(time).count();
}

Json ScaleContextToJson(const ScaleResult& result) {
  const ScaleSetup& setup = result.setup;
  return {{"date", result.context.date},
          {"host_name", result.context.host},
          {"executable", "gauntlet bench scale"},
          {"num_cpus", result.context.cpus},
          {"cpu", result.context.cpu},
          {"gauntlet_version", result.context.version},
          {"interrupted", result.interrupted},
          {"latency_seconds", SecondsOf(setup.link.one_way.min)},
          {"jitter_seconds",
           SecondsOf(setup.link.one_way.max - setup.link.one_way.min)},
          {"bandwidth_bytes_per_second", setup.link.bytes_per_second},
          {"step_time_seconds", SecondsOf(setup.step_time)},
          {"between_failures_seconds", SecondsOf(setup.between_failures)},
          {"of_workers", setup.of_workers},
          {"seed", setup.seed}};
}

Json EntryOf(const ScaleFigures& figures) {
  const std::string name = fmt::format("scale/workers:{}", figures.workers);
  Json entry = BenchmarkEntry(name, "", "iteration");
  entry["repetitions"] = 1;
  entry["repetition_index"] = 0;
  entry["threads"] = figures.workers;
  entry["workers"] = figures.workers;
  if (!figures.voided.empty()) {
    entry["error_occurred"] = true;
    entry["error_message"] = figures.voided;
    return entry;
  }
  const double step = figures.of(ScaleMetric::kStep);
  entry["iterations"] = 1;
  AddBenchmarkTimes(entry, step, step);
  for (const ScaleMetricInfo& info : kScaleMetricInfos) {
    entry[std::string(info.name)] = figures.of(info.metric);
  }
  if (figures.goodput) {
    entry["goodput_run"] = MeasuredGoodputToJson(*figures.goodput);
  }
  return entry;
}

}  // namespace

std::span<const ScaleMetricInfo, kScaleMetrics> AllScaleMetrics() {
  return kScaleMetricInfos;
}

std::string ScaleMetricText(const ScaleMetricInfo& info, double value) {
  if (info.metric == ScaleMetric::kGoodput) {
    return fmt::format("{:.3f} %", value * 100);
  }
  if (info.unit) return MetricText(*info.unit, value);
  return value < 100 ? fmt::format("{:.1f}", value)
                     : fmt::format("{:.0f}", value);
}

double ScaleSetup::BetweenFailuresOf(int workers) const {
  return SecondsOf(between_failures) * of_workers / workers;
}

double GrowthBetween(const ScaleFigures& small, const ScaleFigures& large,
                     ScaleMetric metric) {
  return std::log(large.of(metric) / small.of(metric)) /
         std::log(static_cast<double>(large.workers) / small.workers);
}

std::string ScaleResultToJson(const ScaleResult& result) {
  Json entries = Json::array();
  for (const ScaleFigures& figures : result.figures) {
    entries.push_back(EntryOf(figures));
  }
  return BenchmarkFile(ScaleContextToJson(result), std::move(entries));
}

}  // namespace gauntlet
