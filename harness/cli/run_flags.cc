// The options of `gauntlet run`.
#include "harness/cli/flags.h"
#include "harness/cli/shard_flag.h"
#include "harness/cli/verbs.h"

namespace gauntlet {
namespace {

constexpr std::string_view kExamples =
    R"(Examples:
  gauntlet run --demo
  gauntlet run scenarios/smoke --world sim
  gauntlet run scenarios/gpu --device cuda --world real
    gauntlet run scenarios -L 'smoke and not slow' --list
  gauntlet run scenarios -L crash --shard 1/4 --junit junit.xml
Every run leaves report.html, summary.md, result.json, junit.xml and its records
in .gauntlet/runs/latest.
A case that needed several tries has a folder for each: CASE.real, then
CASE~try-2.real.
The first 20 simulated cases that fail are run again to find the cause; the
others name the command that finds it.
Reference runs are kept in .gauntlet/runs/.cache; it may be deleted.)";

// "100", or "all".
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

void AddSelection(Flags& flags, RunCommand& command) {
  flags.Positionals({"paths", "PATH", "scenario files, or folders of them"},
                    {.most = 10'000}, command.paths);
  flags.Switch({"--demo", "", "the built-in scenarios; needs no files"},
               [&command] { command.demo = true; });
  flags.Value({"-k,--name", "TEXT", "only cases with this in their name"},
              ReadText(command.name_filter));
  flags.Values({"-L,--label", "EXPRESSION",
                "only cases whose labels match, such as 'smoke and not slow'; "
                "repeated: any of them"},
               command.labels);
  flags.Switch({"--last-failed", "",
                "only what did not hold in the last run, of PATH or --demo"},
               [&command] { command.last_failed = true; });
  flags.Value({"--shard", "I/N",
               "only the I-th of N parts (TEST_TOTAL_SHARDS and "
               "TEST_SHARD_INDEX, or GoogleTest's GTEST_...)"},
              ReadShard(command.shard));
  flags.Switch({"--list", "", "print the cases, and run none"},
               [&command] { command.lists = true; });
  flags.Value({"--no-tests", "pass|fail",
               "what it is if nothing is selected; fail is exit code 4 (fail)"},
              ReadChoice<NothingSelected>(command.nothing_selected,
                                          {{"pass", NothingSelected::kPasses},
                                           {"fail", NothingSelected::kFails}}));
}

void AddHow(Flags& flags, RunCommand& command) {
  flags.Value(
      {"--world", "NAME", "real, sim or both (both)"},
      ReadChoice<WorldChoice>(command.world, {{"real", WorldChoice::kReal},
                                              {"sim", WorldChoice::kSimulated},
                                              {"both", WorldChoice::kBoth}}));
  flags.Value({"--seed", "N", "instead of the scenarios' own"},
              ReadWhole<std::optional<uint64_t>, uint64_t>(command.seed, 0,
                                                           UINT64_MAX));
  flags.Value({"--device", "NAME",
               "what workers compute on, instead of the scenarios' own: cpu, "
               "emulated, or cuda, which the simulated world skips"},
              ReadChoice<DeviceKind>(command.device,
                                     {{"cpu", DeviceKind::kCpu},
                                      {"emulated", DeviceKind::kEmulated},
                                      {"cuda", DeviceKind::kCuda}}));
  flags.Value({"-j,--jobs", "N", "runs in real processes at a time (1)"},
              ReadWhole(command.jobs, 1, 256));
  flags.Value({"--retries", "N",
               "run a case of the real world that failed or is inconclusive "
               "again, up to 10 times; a simulated case is never retried (0)"},
              ReadWhole(command.retries, 0, 10));
  flags.Value({"--flaky", "fail|pass",
               "verdict on a case that passed in a retry (fail)"},
              ReadChoice<FlakyVerdict>(command.flaky,
                                       {{"fail", FlakyVerdict::kFails},
                                        {"pass", FlakyVerdict::kPasses}}));
  flags.Switch({"-x,--exit-first", "", "stop after the first failure"},
               [&command] { command.max_failures = 1; });
  flags.Value({"--repeat", "N", "each case so many times (1)"},
              ReadWhole(command.repeat, 1, 100'000));
  flags.Value({"--max-fail", "N", "stop after so many failures"},
              ReadWhole(command.max_failures, 1, 1'000'000));
  flags.Switch({"--strict", "", "a skipped case is exit code 6"},
               [&command] { command.strict = true; });
}

void AddOutput(Flags& flags, RunCommand& command) {
  flags.Value({"--runs", "DIR", "where runs are kept (.gauntlet/runs)"},
              ReadText(command.runs_directory));
  flags.Value(
      {"--keep-runs", "N|all", "remove the oldest runs beyond so many (100)"},
      ReadKeptRuns(command.keep_runs));
  flags.Value({"--durations", "N",
               "list the N slowest cases after the summary; 0: all"},
              ReadWhole<std::optional<uint64_t>, uint64_t>(command.durations, 0,
                                                           1'000'000));
  flags.Value({"--junit", "FILE", "a copy of the run's junit.xml"},
              ReadText(command.junit_file));
  flags.Switch({"--github", "",
                "append summary.md to $GITHUB_STEP_SUMMARY and print failures "
                "as annotations, for GitHub Actions"},
               [&command] { command.github = true; });
  flags.Switch({"--json", "", "the result as JSON"},
               [&command] { command.output = OutputFormat::kJson; });
}

}  // namespace

Result<Command> ParseRun(const VerbArguments& verb) {
  RunCommand command;
  Flags flags({.command = "run",
               .summary = "Run scenarios and judge what came of them.",
               .examples = std::string(kExamples)},
              verb);
  AddSelection(flags, command);
  AddHow(flags, command);
  AddOutput(flags, command);
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
