#include "harness/bench/figures/bench_file.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace gauntlet {
namespace {

CheckpointResult Sample() {
  CheckpointResult result;
  result.context = {.date = "2026-11-27T10:00:00Z",
                    .host = "bench",
                    .cpu = "EPYC",
                    .cpus = 2,
                    .version = "0.1.0",
                    .file_system = "ext4"};
  CheckpointFigures none = {
      .config = {.state_bytes = 10'000'000, .every = 10, .workers = 2}};
  none.of(Metric::kStep) = {0.001, 0.003, 0.002};
  none.of(Metric::kCpu) = {0.0015, 0.0015, 0.0015};
  CheckpointFigures async = none;
  async.config.mode = SaveMode::kAsync;
  async.of(Metric::kStall) = {0.004, 0.005, 0.006};
  CheckpointFigures voided = {.config = none.config};
  voided.config.mode = SaveMode::kSync;
  voided.voided = "trial 2: another state";
  result.figures = {none, voided, async};
  MachineFigures machine = {.bytes = 10'000'000, .values = {}};
  machine.values[0] = {8e9};
  result.machine = {machine};
  return result;
}

TEST(BenchFile, ReadsBackTrialsAndContext) {
  const CheckpointResult result = Sample();
  const Parsed<BenchFigures> read =
      ReadBenchFigures(CheckpointResultToJson(result), "a.json");
  ASSERT_TRUE(read.ok()) << read.error;
  EXPECT_EQ(read.value->context, result.context);
  EXPECT_EQ(read.value->values.size(), 2u);
  const TrialValues* const stall = read.value->Find(
      "checkpoint/async/state:10MB/every:10/workers:2", Metric::kStall);
  ASSERT_NE(stall, nullptr);
  EXPECT_EQ(*stall, (TrialValues{0.004, 0.005, 0.006}));
  EXPECT_EQ(read.value->Find("checkpoint/sync/state:10MB/every:10/workers:2",
                             Metric::kStep),
            nullptr);
}

// Fields of a file that Google Benchmark's compare.py reads.
TEST(BenchFile, HasFieldsOfGoogleBenchmark) {
  const nlohmann::json json =
      nlohmann::json::parse(CheckpointResultToJson(Sample()));
  EXPECT_TRUE(json.at("context").at("date").is_string());
  EXPECT_EQ(json.at("context").at("num_cpus"), 2);
  size_t trials = 0;
  for (const auto& entry : json.at("benchmarks")) {
    ASSERT_TRUE(entry.at("name").is_string());
    ASSERT_TRUE(entry.at("run_name").is_string());
    if (entry.contains("error_occurred")) continue;
    ASSERT_TRUE(entry.at("real_time").is_number());
    ASSERT_TRUE(entry.at("cpu_time").is_number());
    ASSERT_EQ(entry.at("time_unit"), "ms");
    if (entry.at("run_type") == "iteration") {
      ++trials;
      continue;
    }
    ASSERT_EQ(entry.at("run_type"), "aggregate");
    ASSERT_TRUE(entry.at("aggregate_name").is_string());
  }
  EXPECT_EQ(trials, 6u);
  EXPECT_EQ(json.at("benchmarks").at(3).at("aggregate_name"), "median");
  EXPECT_EQ(json.at("benchmarks").at(3).at("real_time"), 2.0);
}

// A short run may end before its CPU time is read.
TEST(BenchFile, FileWithoutCpuTimesIsReadBack) {
  CheckpointResult result = Sample();
  for (CheckpointFigures& figures : result.figures) {
    figures.of(Metric::kCpu).clear();
  }
  const Parsed<BenchFigures> read =
      ReadBenchFigures(CheckpointResultToJson(result), "a.json");
  ASSERT_TRUE(read.ok()) << read.error;
  const TrialValues* const cpu = read.value->Find(
      "checkpoint/async/state:10MB/every:10/workers:2", Metric::kCpu);
  EXPECT_TRUE(cpu == nullptr || cpu->empty());
}

TEST(BenchFile, VoidFiguresAreErrors) {
  const nlohmann::json json =
      nlohmann::json::parse(CheckpointResultToJson(Sample()));
  const auto& entry = json.at("benchmarks").at(4);
  EXPECT_EQ(entry.at("error_occurred"), true);
  EXPECT_EQ(entry.at("error_message"), "trial 2: another state");
  EXPECT_FALSE(entry.contains("real_time"));
}

TEST(BenchFile, IntervalsNeedTrials) {
  CheckpointResult result = Sample();
  const auto has_interval = [&result] {
    const std::string json = CheckpointResultToJson(result);
    return json.find("\"low95\"") != json.npos;
  };
  EXPECT_FALSE(has_interval());
  for (CheckpointFigures& figures : result.figures) {
    figures.of(Metric::kStep) = {1, 2, 3, 4, 5, 6};
    figures.of(Metric::kCpu) = {1, 2, 3, 4, 5, 6};
    if (figures.config.mode) figures.of(Metric::kStall) = {1, 2, 3, 4, 5, 6};
  }
  EXPECT_TRUE(has_interval());
}

TEST(BenchFile, RefusesNumbersBelowZero) {
  CheckpointResult result = Sample();
  result.figures.back().of(Metric::kStall)[1] = -1e300;
  const Parsed<BenchFigures> read =
      ReadBenchFigures(CheckpointResultToJson(result), "a.json");
  EXPECT_EQ(read.error,
            "a.json: expected the JSON of gauntlet bench checkpoint, found "
            "checkpoint/async/state:10MB/every:10/workers:2: stall: a number "
            "below 0");
}

TEST(BenchFile, RefusesOtherFiles) {
  const auto error_of = [](std::string_view json) {
    const Parsed<BenchFigures> read = ReadBenchFigures(json, "b.json");
    EXPECT_FALSE(read.ok());
    return read.error;
  };
  const std::string expected =
      "b.json: expected the JSON of gauntlet bench checkpoint, found ";
  EXPECT_EQ(error_of(""), expected + "no JSON object");
  EXPECT_EQ(error_of("[1]"), expected + "no JSON object");
  EXPECT_EQ(error_of(R"({"benchmarks": []})"), expected + "no context");
  EXPECT_EQ(error_of(R"({"context": {"executable": "kernels_bench"}})"),
            expected + "'kernels_bench' as the executable of its context");
  const std::string head =
      R"({"context": {"executable": "gauntlet bench checkpoint"})";
  EXPECT_EQ(error_of(head + "}"), expected + "no list of benchmarks");
  EXPECT_EQ(error_of(head + R"(, "benchmarks": []})"), expected + "no trials");
  EXPECT_EQ(error_of(head + R"(, "benchmarks": [7]})"),
            expected + "a benchmark that is no object");
  EXPECT_EQ(error_of(head + R"(, "benchmarks": [{"run_type": "iteration",
                     "name": "x", "step": "fast"}]})"),
            expected + "x: step: no number");
}

TEST(BenchFile, NamesEveryDifferenceOfContext) {
  const BenchContext here = Sample().context;
  EXPECT_EQ(ContextDifference(here, here), "");
  BenchContext there = here;
  there.date = "2020-01-01T00:00:00Z";
  EXPECT_EQ(ContextDifference(there, here), "");
  there.host = "other";
  there.cpus = 8;
  EXPECT_EQ(ContextDifference(there, here),
            "host: other in the baseline, bench now; cores: 8 in the baseline, "
            "2 now; measure a new baseline on this machine, with this version: "
            "--out DIR without --baseline");
}

}  // namespace
}  // namespace gauntlet
