// The options of `gauntlet bench scale`.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "engine/cli/flags/flags.h"
#include "engine/job/job.h"
#include "engine/text/units.h"
#include "harness/bench/figures/byte_text.h"
#include "harness/cli/bench/bench_options.h"
#include "harness/cli/flags/verbs.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr std::string_view kBenchScaleExamples =
    R"(Examples:
  gauntlet bench scale
  gauntlet bench scale --workers 4,64,1024,4096 --latency 20us
  gauntlet bench scale --mtbf 3h --mtbf-workers 16384 --step-time 5s

Each worker of the simulated cluster is the whole engine: it joins the others,
exchanges gradients, saves and recovers through simulated links and disks. For
each number of workers one run is undisturbed, in one a worker crashes and all
restart, and in one a worker crashes and rejoins alone. A figure is void if a
run does not end with the state of the undisturbed one. The state of the model
is small, so that the figures show what grows with the number of workers.
1024 workers take about a minute, 4096 about half an hour and 6 GB.
gauntlet help bench explains the figures of bench checkpoint;
docs/guides/benchmarks.md those of bench scale.
Exit code 0: done; 1: a figure is void, or a run failed; 2: the call is wrong;
3: the results could not be written; 130: interrupted, with the figures so far.)";

constexpr uint64_t kMostCrashes = 10'000;
constexpr int kMostFailureWorkers = 100'000'000;

// Returns a reader of a time, which may be 0.
FlagReader ReadLatency(Duration& target) {
  return [&target](const std::string& text) -> Status {
    const std::optional<Duration> time = ParseDuration(text);
    if (!time) return ExpectedValue("a time such as 10us", text);
    target = *time;
    return OkStatus();
  };
}

// Returns a reader of a time of at least 1 ms. With shorter steps, the
// simulated run would need millions of them.
FlagReader ReadStepTime(Duration& target) {
  return [&target](const std::string& text) -> Status {
    const std::optional<Duration> time = ParseDuration(text);
    if (!time || *time < std::chrono::milliseconds(1)) {
      return ExpectedValue("a time from 1ms, such as 100ms", text);
    }
    target = *time;
    return OkStatus();
  };
}

FlagReader ReadBandwidth(uint64_t& target) {
  return [&target](const std::string& text) -> Status {
    const std::optional<uint64_t> bytes = ParseBytes(text);
    if (!bytes || *bytes == 0) {
      return ExpectedValue("bytes in a second, such as 25GB", text);
    }
    target = *bytes;
    return OkStatus();
  };
}

}  // namespace

Result<Command> ParseBenchScale(const VerbArguments& verb) {
  BenchScaleCommand command;
  ScaleBenchPlan& plan = command.plan;
  ScaleSetup& setup = plan.setup;
  LatencyRange& one_way = setup.link.one_way;
  Duration jitter = std::chrono::microseconds(10);
  one_way.min = std::chrono::microseconds(10);
  setup.link.bytes_per_second = 25'000'000'000;
  Flags flags({.command = "bench scale",
               .summary = std::string(kBenchScaleSummary),
               .examples = std::string(kBenchScaleExamples)},
              verb);
  flags.Section("Cluster");
  flags.Value({"--workers", "N,…",
               fmt::format("Numbers of workers, from {} to {} "
                           "(4,16,64,256,1024).",
                           kLeastScale, kMaxReplicas)},
              ReadList(plan.workers, [](const std::string& text) {
                return ParseWhole(text, kLeastScale, kMaxReplicas);
              }));
  flags.Value({"--step-time", "TIME",
               "Time that a worker computes in each step, at least 1ms "
               "(100ms)."},
              ReadStepTime(setup.step_time));
  flags.Value({"--latency", "TIME",
               "Least time of a message between two workers (10us)."},
              ReadLatency(one_way.min));
  flags.Value({"--jitter", "TIME",
               "Most that is added to it, at random for each message (10us)."},
              ReadLatency(jitter));
  flags.Value({"--bandwidth", "SIZE",
               "Bytes in a second, in each direction of a link (25GB)."},
              ReadBandwidth(setup.link.bytes_per_second));
  flags.Section("Failures");
  flags.Value({"--mtbf", "TIME",
               "Mean time between two interruptions of a job with "
               "--mtbf-workers; a smaller job is interrupted less often (3h)."},
              ReadLongTime(setup.between_failures));
  flags.Value({"--mtbf-workers", "N",
               "Workers of that job (16384, as published for Llama 3)."},
              ReadWhole(setup.of_workers, 1, kMostFailureWorkers));
  flags.Value({"--crashes", "N",
               fmt::format("Check the formula with about N crashes at random "
                           "times, in the largest cluster of at most {} "
                           "workers; 0: do not (50).",
                           kMostGoodputWorkers)},
              ReadWhole(plan.crashes, uint64_t{0}, kMostCrashes));
  flags.Value({"--seed", "N", "Seed of latencies and crashes (1)."},
              ReadWhole(setup.seed, uint64_t{0}, UINT64_MAX));
  flags.Section("Result");
  flags.Value({"--out", "DIR",
               "New or empty folder for result.json and report.html "
               "(.gauntlet/bench-scale/TIME)."},
              ReadText(command.out_directory));
  flags.Switch({"--json", "",
                "Print result.json, in the form of Google Benchmark, in place "
                "of the tables."},
               [&command] { command.output = OutputFormat::kJson; });
  ASSIGN_OR_RETURN(const FlagsOutcome outcome, flags.Parse(verb.arguments));
  if (outcome == FlagsOutcome::kHelpWanted) {
    return Command(PrintTextCommand{flags.Help()});
  }
  one_way.max = one_way.min + jitter;
  std::ranges::sort(plan.workers);
  return Command(std::move(command));
}

}  // namespace gauntlet
