// The options of `gauntlet crash-test`.
#include <algorithm>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/cli/flags/flags.h"
#include "engine/text/units.h"
#include "harness/cli/bench/bench_options.h"
#include "harness/cli/flags/verbs.h"
#include "harness/trainer/run/crash_test_plan.h"
#include "harness/trainer/run/trainer_command.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

constexpr std::string_view kCrashTestExamples =
    R"(Examples:
  gauntlet crash-test -- python train.py --output-dir {out}
  gauntlet crash-test --result final.safetensors --checkpoint 'ckpt-*' \
      --step-regex 'resumed from step (\d+)' -- python train.py --out {out}
  gauntlet crash-test --faults kill,power,enospc --time 1h -j2 -- ./train {out}

The program runs once while each change that it makes below {out} is recorded.
From the recording each state is rebuilt that a crash could leave on the disk,
and the same command is run from it: it must resume from the newest complete
checkpoint and end with the results of the undisturbed run, bit for bit. {out}
is a directory that is made for it; {port} is a free TCP port.
Results are compared tensor by tensor for safetensors, npy, npz, torch, Keras
and HDF5 files, and byte by byte for others.
docs/guides/crash-test.md explains faults, verdicts and findings.
Exit code 0: no findings; 1: findings; 2: the call is wrong, or the program
fails without a fault; 3: no verdict; 130: interrupted, with the findings so
far.)";

// Advice on an unknown word if "--" is missing: the word may belong to the
// program's command.
constexpr std::string_view kAdviceWithoutSeparator =
    "; the program's command comes after --: gauntlet crash-test [OPTION…] -- "
    "COMMAND";

constexpr uint64_t kMostJobs = 256;

Result<CrashFault> ParseFault(const std::string& name) {
  if (const auto fault = CrashFaultOfName(name)) return *fault;
  return ExpectedValue(
      fmt::format("some of {}", fmt::join(kCrashFaultNames, ", ")), name);
}

// Accepts patterns of files below {out}, and removes a leading "{out}/".
Status CheckPatterns(std::string_view flag,
                     std::vector<std::string>& patterns) {
  for (std::string& pattern : patterns) {
    const std::string prefix = std::string(kOutPlace) + "/";
    if (pattern.starts_with(prefix)) pattern.erase(0, prefix.size());
    if (!pattern.empty() && !pattern.starts_with('/')) continue;
    return InvalidArgument(
        fmt::format("{}: expected a pattern of files below {{out}}, such as "
                    "'ckpt-*', found {}",
                    flag, Quoted(pattern)));
  }
  return OkStatus();
}

FlagReader ReadStepPattern(std::optional<StepPattern>& target) {
  return [&target](const std::string& text) -> Status {
    ASSIGN_OR_RETURN(target, StepPattern::Parse(text));
    return OkStatus();
  };
}

// Returns the arguments without the options on output and on the number of
// trials.
std::vector<std::string> OptionsForScripts(
    std::span<const std::string> arguments) {
  const std::set<std::string_view> dropped = {"--out", "--time", "--trials",
                                              "--only"};
  std::vector<std::string> kept;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    const std::string name = argument.substr(0, argument.find('='));
    if (argument == "--json") continue;
    if (!dropped.contains(name)) {
      kept.push_back(argument);
    } else if (name == argument) {
      ++i;  // skips its value
    }
  }
  return kept;
}

}  // namespace

Result<Command> ParseCrashTest(const VerbArguments& verb) {
  CrashTestCommand command;
  CrashTestPlan plan;
  std::string resume;
  const auto separator = std::ranges::find(verb.arguments, "--");
  const auto own = static_cast<size_t>(separator - verb.arguments.begin());
  const bool has_separator = separator != verb.arguments.end();
  Flags flags(
      {.command = "crash-test",
       .summary = "Crash any training program and check that it comes back.",
       .examples = std::string(kCrashTestExamples),
       .usage = "[OPTIONS] -- COMMAND",
       .unknown_advice =
           has_separator ? "" : std::string(kAdviceWithoutSeparator)},
      verb);
  flags.Section("Program");
  flags.Value({"--resume", "COMMAND",
               "Shell command that resumes (the command itself)."},
              ReadText(resume));
  flags.Value({"--network", "WHICH",
               "private: a loopback of its own; shared: this machine's "
               "(private)."},
              ReadChoice<NetworkAccess>(plan.network,
                                        {{"private", NetworkAccess::kPrivate},
                                         {"shared", NetworkAccess::kShared}}));
  flags.Switch({"--fresh", "",
                "Resume a Python program in a fresh process each time, rather "
                "than in a child of one that has imported its libraries."},
               [&plan] { plan.uses_fork_server = false; });
  flags.Section("Results");
  flags.Values({"--result", "PATTERN",
                "Files below {out} that are the result; may be given again "
                "(all files)."},
               plan.results);
  flags.Value({"--result-cmd", "COMMAND",
               "Shell command that prints the result, in place of files."},
              ReadText(plan.result_command));
  flags.Values({"--checkpoint", "PATTERN",
                "Files below {out} that are checkpoints; may be given again "
                "(those that a resume reads)."},
               plan.checkpoints);
  flags.Value({"--step-regex", "REGEX",
               "Regular expression with one group: the step in the output of a "
               "resumed run."},
              ReadStepPattern(plan.resumed_step));
  flags.Section("Faults");
  flags.Value({"--faults", "NAME,…",
               "torn, power, enospc, eio, sigterm, pause, rank; kill is always "
               "tried (kill,torn,power,rank)."},
              [&plan](const std::string& text) -> Status {
                plan.names_faults = true;
                return ReadList(plan.faults, ParseFault)(text);
              });
  flags.Value({"--grace", "TIME", "From SIGTERM to SIGKILL (5s)."},
              ReadLongTime(plan.grace));
  flags.Value({"--pause", "TIME", "Length of a pause (1s)."},
              ReadLongTime(plan.pause));
  flags.Section("Search");
  flags.Value({"--time", "TIME", "Time for all trials (10m)."},
              [&plan](const std::string& text) -> Status {
                Duration time{};
                RETURN_IF_ERROR(ReadLongTime(time)(text));
                plan.time = time;
                return OkStatus();
              });
  flags.Value(
      {"--only", "ID", "Only this crash, such as kill-120 or enospc-31."},
      ReadText(plan.only));
  flags.Value({"--trials", "N", "Most trials (no limit)."},
              [&plan](const std::string& text) -> Status {
                ASSIGN_OR_RETURN(plan.most_trials,
                                 ParseWhole(text, uint64_t{1}, UINT64_MAX));
                return OkStatus();
              });
  flags.Value({"-j,--jobs", "N", "Trials at a time (1)."},
              ReadWhole(plan.jobs, 1, static_cast<int>(kMostJobs)));
  flags.Value({"--trial-limit", "TIME",
               "Time after which a run hangs (ten times the recorded run's, at "
               "least 20s)."},
              ReadLongTime(plan.trial_limit));
  flags.Value({"--seed", "N", "Seed of the choice among large states (1)."},
              ReadWhole(plan.seed, uint64_t{0}, UINT64_MAX));
  flags.Section("Output");
  flags.Value(
      {"--out", "DIR",
       "Folder for the recording, the report and findings (a new one in "
       ".gauntlet/crash-tests)."},
      ReadText(command.out_directory));
  flags.Switch({"--json", "", "Print the result as JSON."},
               [&command] { command.output = OutputFormat::kJson; });
  ASSIGN_OR_RETURN(const FlagsOutcome outcome,
                   flags.Parse(verb.arguments.first(own)));
  if (outcome == FlagsOutcome::kHelpWanted)
    return Command(PrintTextCommand{flags.Help()});
  if (has_separator) plan.command.assign(separator + 1, verb.arguments.end());
  plan.options = OptionsForScripts(verb.arguments.first(own));
  plan.version = GAUNTLET_VERSION;
  RETURN_IF_ERROR(CheckTrainerCommand(plan.command));
  if (!resume.empty()) plan.resume_command = ArgumentsOfShellCommand(resume);
  RETURN_IF_ERROR(CheckPatterns("--result", plan.results));
  RETURN_IF_ERROR(CheckPatterns("--checkpoint", plan.checkpoints));
  if (!plan.results.empty() && !plan.result_command.empty()) {
    return InvalidArgument(
        "--result and --result-cmd: expected one of them, found both");
  }
  command.plan = std::make_shared<const CrashTestPlan>(std::move(plan));
  return Command(std::move(command));
}

}  // namespace gauntlet
