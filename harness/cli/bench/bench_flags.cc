// The options of `gauntlet bench`.
#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/cli/flags/flags.h"
#include "engine/text/units.h"
#include "harness/bench/figures/byte_text.h"
#include "harness/bench/figures/statistics.h"
#include "harness/bench/state_job.h"
#include "harness/cli/bench/bench_options.h"
#include "harness/cli/flags/verbs.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

constexpr std::string_view kSummary =
    "Measure what checkpoints cost: stall, true cost, time to durable, "
    "bandwidth, memory and recovery, with the interval that follows from it.";

constexpr std::string_view kBenchExamples =
    R"(Examples:
  gauntlet bench checkpoint
  gauntlet bench checkpoint --state 10MB,1GB --every 10,100 --modes async
  gauntlet bench checkpoint --ckpt /mnt/nvme --mtbf 3h
  gauntlet bench checkpoint --every 100 --kills 50 --kill-every 2s
  gauntlet bench checkpoint --limit 'async.overhead<=3%' --limit 'stall<=5ms'
  gauntlet bench checkpoint --baseline .gauntlet/bench/latest/result.json

Each trial runs every configuration once, in real processes, and a run without
checkpoints beside it; the next trial runs them in the reverse order. A worker
of each run with checkpoints is killed by SIGKILL, and has to come back. A
figure is void if the trained state is not, bit for bit, that of the run without
checkpoints. Figures are medians with a 95 % interval.
gauntlet help bench explains the figures. docs/guides/benchmarks.md describes
the method, the JSON and limits.
Exit code 0: done; 1: a figure is void, or training failed; 2: the call is
wrong, the disk is too small, or the baseline is of another machine, version or
configuration; 3: the results could not be written; 5: a limit is exceeded; 130:
interrupted, with the figures so far. After an interrupt or a failed training,
limits are not checked.)";

constexpr uint64_t kMostEvery = 1'000'000;
constexpr int kMostBenchWorkers = 64;
constexpr int kMostTrials = 1000;
constexpr uint64_t kMostSaves = 100'000;
constexpr uint64_t kMostKills = 100'000;

Result<uint64_t> ReadState(const std::string& text) {
  const std::optional<uint64_t> bytes = ParseBytes(text);
  if (bytes && *bytes >= kLeastStateBytes && *bytes <= kMostStateBytes) {
    return *bytes;
  }
  return ExpectedValue(
      fmt::format("a size from {} to {}, such as 10MB",
                  ByteText(kLeastStateBytes), ByteText(kMostStateBytes)),
      text);
}

// Returns 0 for "never".
Result<uint64_t> ReadEvery(const std::string& text) {
  if (text == "never") return uint64_t{0};
  const Result<uint64_t> steps = ParseWhole<uint64_t>(text, 1, kMostEvery);
  if (steps.ok()) return steps;
  return ExpectedValue(
      fmt::format("a number of steps from 1 to {}, or never", kMostEvery),
      text);
}

// Returns 0 for "all".
Result<int> ReadShards(const std::string& text) {
  if (text == "all") return 0;
  const Result<int> shards = ParseWhole(text, 1, kMostBenchWorkers);
  if (shards.ok()) return shards;
  return ExpectedValue(
      fmt::format("a number of shards from 1 to {}, or all", kMostBenchWorkers),
      text);
}

// Returns nullopt for "none": runs without saves are always measured.
Result<std::optional<SaveMode>> ReadMeasuredMode(const std::string& text) {
  if (text == "none") return std::optional<SaveMode>();
  for (const SaveMode mode : AllSaveModes()) {
    if (SaveModeName(mode) == text) return std::optional(mode);
  }
  std::vector<std::string_view> names = {"none"};
  for (const SaveMode mode : AllSaveModes())
    names.push_back(SaveModeName(mode));
  return ExpectedValue(
      fmt::format("some of {}, separated by commas", fmt::join(names, ", ")),
      text);
}

Result<int> ReadTrials(const std::string& text) {
  const Result<int> trials =
      ParseWhole(text, static_cast<int>(kLeastTrials), kMostTrials);
  if (trials.ok()) return trials;
  return ExpectedValue(
      fmt::format("a whole number from {} to {} (fewer than {} trials give no "
                  "95 % interval)",
                  kLeastTrials, kMostTrials, kLeastTrials),
      text);
}

Status ReadLimits(const std::vector<std::string>& texts,
                  BenchCheckpointCommand& command) {
  for (const std::string& text : texts) {
    Result<BenchLimit> limit = ParseBenchLimit(text);
    if (!limit.ok()) return Annotate(limit.status(), "--limit");
    command.limits.push_back(*std::move(limit));
  }
  return OkStatus();
}

// Returns true iff a limit on the metric cannot be a multiple of the baseline.
// A ratio of differences has no meaning. Goodput comes from a single run, so
// its change cannot be tested for significance.
bool HasNoMultiple(Metric metric) {
  return IsDifference(metric) || metric == Metric::kGoodput;
}

// Refuses multiples of the baseline if there is no baseline, or if the metric
// has no multiple. Also refuses limits on metrics or modes that the run does
// not measure: such limits could never be broken.
Status CheckLimits(const BenchCheckpointCommand& command) {
  for (const BenchLimit& limit : command.limits) {
    const auto refuse = [&limit](std::string_view why) {
      return InvalidArgument(fmt::format("--limit {}: {}", limit.text, why));
    };
    if (limit.times_baseline && command.baseline_file.empty()) {
      return refuse("a multiple of the baseline requires --baseline FILE");
    }
    if (limit.times_baseline && HasNoMultiple(limit.metric)) {
      return refuse(
          "a difference, or the goodput of one run, has no multiple; expected "
          "a value");
    }
    if (limit.metric == Metric::kGoodput && !command.goodput) {
      return refuse("goodput is measured only with --kills");
    }
    const bool needs_saves =
        limit.mode ? *limit.mode != "none" : !IsOfAllRuns(limit.metric);
    if (command.modes.empty() && needs_saves) {
      return refuse(
          "no mode with checkpoints is measured; name one with --modes, and "
          "its steps with --every");
    }
    if (limit.mode == "none" && !IsOfAllRuns(limit.metric)) {
      return refuse("a run without checkpoints has no such figure");
    }
    if (!limit.mode || *limit.mode == "none") continue;
    const bool measured = std::ranges::any_of(
        command.modes,
        [&](const SaveMode mode) { return SaveModeName(mode) == *limit.mode; });
    if (!measured) {
      return refuse(fmt::format("no mode {} is measured; add it to --modes",
                                *limit.mode));
    }
  }
  return OkStatus();
}

void AddConfigurations(Flags& flags, BenchCheckpointCommand& command,
                       std::vector<std::optional<SaveMode>>& modes) {
  flags.Section("Configurations (lists: all combinations are measured)");
  flags.Value({"--modes", "NAME,…",
               "Modes of train --ckpt-mode to measure beside none (all)."},
              ReadList(modes, ReadMeasuredMode));
  flags.Value({"--state", "SIZE,…",
               "Size of the state: weights and moments of Adam (10MB)."},
              ReadList(command.state_bytes, ReadState));
  flags.Value({"--every", "N,…",
               "Steps from save to save; never: no checkpoints (10)."},
              ReadList(command.every, ReadEvery));
  flags.Value({"--workers", "N,…", "Worker processes on this host (1)."},
              ReadList(command.workers, [](const std::string& text) {
                return ParseWhole(text, 1, kMostBenchWorkers);
              }));
  flags.Value({"--shards", "N,…",
               "Maximum number of workers that write a shard; 1: only the "
               "chief (all)."},
              ReadList(command.shards, ReadShards));
  flags.Value(
      {"--restart", "NAME", "After the kill: whole-job or rejoin (whole-job)."},
      ReadChoice<RestartPolicy>(command.restart,
                                {{"whole-job", RestartPolicy::kWholeJob},
                                 {"rejoin", RestartPolicy::kRejoin}}));
}

void AddMeasurement(Flags& flags, BenchCheckpointCommand& command) {
  flags.Section("Measurement");
  flags.Value(
      {"--trials", "N",
       fmt::format("Trials of each configuration, {} to {}, as an interval of "
                   "95 % needs {} ({}).",
                   kLeastTrials, kMostTrials, kLeastTrials, kLeastTrials)},
      [&command](const std::string& text) -> Status {
        ASSIGN_OR_RETURN(command.trials, ReadTrials(text));
        return OkStatus();
      });
  flags.Value({"--saves", "N", "Saves that are measured in a trial (10)."},
              ReadWhole(command.saves, uint64_t{1}, kMostSaves));
  flags.Value({"--ckpt", "DIR",
               "Folder on the disk to measure. The trials' files in it are "
               "removed (default: that of --out)."},
              ReadText(command.trial_directory));
  flags.Value({"--seed", "N", "Seed of the kills (1)."},
              ReadWhole(command.seed, uint64_t{0}, UINT64_MAX));
}

void AddFailures(Flags& flags, BenchCheckpointCommand& command, uint64_t& kills,
                 std::optional<Duration>& kill_every) {
  flags.Section("Failures");
  flags.Value({"--mtbf", "TIME",
               "Mean time between failures of the whole job, for the interval "
               "that is recommended (24h)."},
              ReadLongTime(command.between_failures));
  flags.Value({"--kills", "N",
               "Measure the goodput: train under about N kills, beside the "
               "same run undisturbed (none)."},
              ReadWhole(kills, uint64_t{1}, kMostKills));
  flags.Value({"--kill-every", "TIME",
               "Mean time between those kills; they come at random (2s)."},
              ReadTime(kill_every));
}

void AddBenchOutputFlags(Flags& flags, BenchCheckpointCommand& command,
                         std::vector<std::string>& limits) {
  flags.Section("Result");
  flags.Values({"--limit", "[MODE.]METRIC<=VALUE",
                "Exit with 5 if a median is above (or, with >=, below) the "
                "value. 1.1x: a multiple of the baseline, if the difference is "
                "significant. Repeatable."},
               limits);
  flags.Value(
      {"--baseline", "FILE", "Compare with the result.json of an earlier run."},
      ReadText(command.baseline_file));
  flags.Value({"--out", "DIR",
               "New or empty folder for result.json and report.html "
               "(.gauntlet/bench/TIME)."},
              ReadText(command.out_directory));
  flags.Switch({"--json", "", "Print result.json in place of the tables."},
               [&command] { command.output = OutputFormat::kJson; });
}

Result<Command> ParseBenchCheckpoint(const VerbArguments& verb) {
  BenchCheckpointCommand command;
  std::vector<std::optional<SaveMode>> modes(AllSaveModes().begin(),
                                             AllSaveModes().end());
  uint64_t kills = 0;
  std::optional<Duration> kill_every;
  std::vector<std::string> limits;
  Flags flags({.command = "bench checkpoint",
               .summary = std::string(kSummary),
               .examples = std::string(kBenchExamples)},
              verb);
  AddConfigurations(flags, command, modes);
  AddMeasurement(flags, command);
  AddFailures(flags, command, kills, kill_every);
  AddBenchOutputFlags(flags, command, limits);
  ASSIGN_OR_RETURN(const FlagsOutcome outcome, flags.Parse(verb.arguments));
  if (outcome == FlagsOutcome::kHelpWanted) {
    return Command(PrintTextCommand{flags.Help()});
  }
  std::erase(command.every, uint64_t{0});
  // The only value of --every was "never", so no mode with saves is measured.
  if (command.every.empty()) {
    command.every = {10};
    modes.clear();
  }
  for (const std::optional<SaveMode>& mode : modes) {
    if (mode) command.modes.push_back(*mode);
  }
  if (kill_every && kills == 0) {
    return InvalidArgument("--kill-every requires --kills N");
  }
  if (kills > 0) {
    if (command.modes.empty()) {
      return InvalidArgument("--kills: expected a mode with checkpoints");
    }
    const Duration every = kill_every.value_or(std::chrono::seconds(2));
    command.goodput = {
        .between_kills = std::chrono::duration<double>(every).count(),
        .kills = kills};
  }
  RETURN_IF_ERROR(ReadLimits(limits, command));
  RETURN_IF_ERROR(CheckLimits(command));
  return Command(std::move(command));
}

std::string BenchOverview() {
  HelpGroup figures = {.title = "Figures (their names in limits and JSON)",
                       .page = GroupPage::kFirst,
                       .entries = {}};
  for (const MetricInfo& info : AllMetrics()) {
    figures.entries.push_back(
        {std::string(info.name), std::string(info.meaning)});
  }
  return RenderHelpPage(
      {.command = "bench",
       .summary =
           "Measure what checkpoints cost on this machine, or how a cluster "
           "behaves as it grows.",
       .usage = "SUBCOMMAND [OPTIONS]",
       .groups = {{.title = "Subcommands",
                   .page = GroupPage::kFirst,
                   .entries = {{"checkpoint", std::string(kSummary)},
                               {"scale", std::string(kBenchScaleSummary)}}},
                  std::move(figures)},
       .examples = "Examples:\n  gauntlet bench checkpoint\n"
                   "  gauntlet bench checkpoint --help\n"
                   "  gauntlet bench scale --workers 4,64,1024"});
}

}  // namespace

Result<Command> ParseBench(const VerbArguments& verb) {
  if (verb.arguments.empty()) {
    return InvalidArgument(
        "expected a subcommand: checkpoint or scale (gauntlet bench "
        "checkpoint)");
  }
  const std::string& word = verb.arguments.front();
  if (word == "--help" || word == "-h") {
    return Command(PrintTextCommand{BenchOverview()});
  }
  const VerbArguments rest{verb.arguments.subspan(1), verb.color, verb.notes};
  if (word == "checkpoint") {
    Result<Command> command = ParseBenchCheckpoint(rest);
    if (command.ok()) return command;
    return Annotate(command.status(), "bench checkpoint");
  }
  if (word == "scale") {
    Result<Command> command = ParseBenchScale(rest);
    if (command.ok()) return command;
    return Annotate(command.status(), "bench scale");
  }
  const std::string meant = word.starts_with("-")
                                ? "; flags follow the subcommand"
                                : DidYouMean(word, {"checkpoint", "scale"});
  return InvalidArgument(
      fmt::format("expected a subcommand, checkpoint or scale, found {}{}",
                  Quoted(word), meant));
}

}  // namespace gauntlet
