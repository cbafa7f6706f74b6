// The options of `gauntlet run`.
#include "engine/cli/flags/flags.h"
#include "harness/cli/flags/runs_flag.h"
#include "harness/cli/flags/shard_flag.h"
#include "harness/cli/flags/verbs.h"

namespace gauntlet {
namespace {

constexpr std::string_view kRunExamples =
    R"(Examples:
  gauntlet run --demo
  gauntlet run scenarios/smoke --world sim
  gauntlet run scenarios/gpu --device cuda --world real
  gauntlet run scenarios -L 'smoke and not slow' --list
  gauntlet run scenarios -L crash --shard 1/4 --junit junit.xml

Every run writes report.html, summary.md, result.json, junit.xml and its records
to .gauntlet/runs/latest. A case that needed several tries has one folder for
each try: CASE.real, then CASE~try-2.real.
Failed cases whose state differs from the reference run's, the first 20 of them,
run again in the simulation to find the first value that differs. The line next
of each further one names the command that finds it.
Reference runs are cached in .gauntlet/runs/.cache, which may be deleted.)";

// Returns a reader of a number of runs, such as "100", or of "all", which sets
// the target to nullopt.
FlagReader ReadKeptRuns(std::optional<uint64_t>& target) {
  return [&target](const std::string& text) -> Status {
    target.reset();
    if (text == "all") return OkStatus();
    const Result<uint64_t> runs = ParseWhole<uint64_t>(text, 1, 1'000'000);
    if (!runs.ok()) {
      return ExpectedValue("all, or a whole number from 1 to 1000000", text);
    }
    target = *runs;
    return OkStatus();
  };
}

void AddRunSelection(Flags& flags, RunCommand& command) {
  flags.Section("Selection");
  flags.Switch(
      {"--demo", "", "Run the built-in scenarios, which need no files."},
      [&command] { command.demo = true; });
  flags.Values({"-k,--name", "TEXT",
                "Run only cases whose name contains TEXT. May be repeated: one "
                "match is enough."},
               command.names);
  flags.Values({"-L,--label", "EXPRESSION",
                "Run only cases whose labels match, such as 'smoke and not "
                "slow'. A label with spaces needs quotes: '\"data loader\" or "
                "smoke'. May be repeated: one match is enough."},
               command.labels);
  flags.Switch({"--last-failed", "",
                "Run only the cases of PATH or --demo that the last run did "
                "not reach, or that failed or were inconclusive."},
               [&command] { command.last_failed = true; });
  flags.Value({"--shard", "I/N",
               "Run only part I of N (TEST_SHARD_INDEX and TEST_TOTAL_SHARDS, "
               "or GoogleTest's GTEST_...)."},
              ReadShard(command.shard));
  flags.Switch({"--list", "", "Print the selected cases and run none."},
               [&command] { command.lists = true; });
  flags.Value({"--no-tests", "pass|fail",
               "Verdict if no case is selected: pass is exit code 0, fail is "
               "exit code 4 (fail)."},
              ReadChoice<NothingSelected>(command.nothing_selected,
                                          {{"pass", NothingSelected::kPasses},
                                           {"fail", NothingSelected::kFails}}));
}

void AddPlace(Flags& flags, RunCommand& command) {
  flags.Section("Execution");
  flags.Value(
      {"--world", "NAME",
       "World to run the cases in: real, sim (simulated) or both (both)."},
      ReadChoice<WorldChoice>(command.world, {{"real", WorldChoice::kReal},
                                              {"sim", WorldChoice::kSimulated},
                                              {"both", WorldChoice::kBoth}}));
  flags.Value({"--seed", "N", "Seed of each case (the scenario's)."},
              ReadWhole<std::optional<uint64_t>, uint64_t>(command.seed, 0,
                                                           UINT64_MAX));
  flags.Value({"--device", "NAME",
               "Device of the workers: cpu, emulated or cuda. The simulated "
               "world skips cases with cuda (the scenario's)."},
              ReadChoice<DeviceKind>(command.device,
                                     {{"cpu", DeviceKind::kCpu},
                                      {"emulated", DeviceKind::kEmulated},
                                      {"cuda", DeviceKind::kCuda}}));
  flags.Value({"-j,--jobs", "N",
               "Run up to N cases of the real world at the same time (1)."},
              ReadWhole(command.jobs, 1, 256));
}

void AddTries(Flags& flags, RunCommand& command) {
  flags.Value({"--repeat", "N", "Run each case N times (1)."},
              ReadWhole(command.repeat, 1, 100'000));
  flags.Value({"--retries", "N",
               "Run a case of the real world that failed or is inconclusive "
               "up to N more times, 10 at most. Simulated cases are never "
               "retried (0)."},
              ReadWhole(command.retries, 0, 10));
  flags.Value({"--flaky", "fail|pass",
               "Verdict on a case that passed only in a retry (fail)."},
              ReadChoice<FlakyVerdict>(command.flaky,
                                       {{"fail", FlakyVerdict::kFails},
                                        {"pass", FlakyVerdict::kPasses}}));
  flags.Switch({"-x,--exit-first", "", "Stop after the first failure."},
               [&command] { command.max_failures = 1; });
  flags.Value({"--max-fail", "N", "Stop after N failures (never)."},
              ReadWhole(command.max_failures, 1, 1'000'000));
  flags.Switch({"--strict", "", "Exit with code 6 if a case is skipped."},
               [&command] { command.strict = true; });
}

void AddRunOutputFlags(Flags& flags, RunCommand& command) {
  flags.Section("Output");
  AddRunsFlag(flags, command.runs_directory);
  flags.Value({"--keep-runs", "N|all",
               "Keep the N newest runs and remove older ones (100)."},
              ReadKeptRuns(command.keep_runs));
  flags.Value({"--durations", "N",
               "List the N slowest cases after the summary; 0: all (none)."},
              ReadWhole<std::optional<uint64_t>, uint64_t>(command.durations, 0,
                                                           1'000'000));
  flags.Value({"--junit", "FILE", "Also write the run's junit.xml to FILE."},
              ReadText(command.junit_file));
  flags.Switch({"--github", "",
                "Append summary.md to $GITHUB_STEP_SUMMARY and print failures "
                "as annotations for GitHub Actions."},
               [&command] { command.github = true; });
  flags.Switch({"--json", "", "Print the result as one JSON object."},
               [&command] { command.output = OutputFormat::kJson; });
}

}  // namespace

Result<Command> ParseRun(const VerbArguments& verb) {
  RunCommand command;
  Flags flags({.command = "run",
               .summary = "Run scenarios and compare each run with its "
                          "fault-free reference run.",
               .examples = std::string(kRunExamples)},
              verb);
  flags.Positionals({"paths", "PATH", "Scenario files, or folders of them."},
                    {.most = 10'000}, command.paths);
  AddRunSelection(flags, command);
  AddPlace(flags, command);
  AddTries(flags, command);
  AddRunOutputFlags(flags, command);
  ASSIGN_OR_RETURN(const FlagsOutcome outcome, flags.Parse(verb.arguments));
  if (outcome == FlagsOutcome::kHelpWanted)
    return Command(PrintTextCommand{flags.Help()});
  if (command.github && command.output == OutputFormat::kJson) {
    return InvalidArgument(
        "--github cannot be combined with --json: both print to standard "
        "output");
  }
  if (command.demo && !command.paths.empty()) {
    return InvalidArgument("--demo cannot be combined with paths");
  }
  if (!command.demo && command.paths.empty()) {
    return InvalidArgument(
        command.last_failed
            ? "--last-failed requires a scenario file or folder, or --demo"
            : "expected a scenario file or folder, or --demo");
  }
  return Command(std::move(command));
}

}  // namespace gauntlet
