// The options of `gauntlet replay`.
#include "engine/cli/flags/flags.h"
#include "harness/cli/flags/runs_flag.h"
#include "harness/cli/flags/verbs.h"

namespace gauntlet {
namespace {

constexpr std::string_view kReplayExamples =
    R"(Examples:
  gauntlet replay latest
  gauntlet replay 20250901T120000-77/torn-manifest --world real
  gauntlet replay finding-001
  gauntlet replay 20250901T120000-78
  gauntlet replay weak-save-17-3-0.2

`latest` is the last run of `gauntlet run`. The findings of an exploration have
names of their own; the run of an exploration replays all of them.
In the simulated world a replay compares all events and prints the first one
that differs. If a state differs from the reference run's, it prints the step,
the operation, the replica and the value. If a simulated case with several
faults fails, it also runs without each fault in turn (at most 16): a fault
without which the case passes was needed for the failure. Exit code 0:
reproduced, or skipped as in the record; 3: diverged, or skipped only now.)";

}  // namespace

Result<Command> ParseReplay(const VerbArguments& verb) {
  ReplayCommand command;
  std::vector<std::string> words;
  Flags flags({.command = "replay",
               .summary = "Rerun a case: reproduced, or the first divergence.",
               .examples = std::string(kReplayExamples)},
              verb);
  flags.Positionals({"what", "WHAT",
                     "A scenario file, a record.jsonl, RUN or RUN/CASE (RUN: "
                     "latest, or the start of a run's name); or a finding of "
                     "the newest exploration that has it: its file, the start "
                     "of the file's name, or the id of a crash state."},
                    {.least = 1, .most = 1}, words);
  flags.Section("Selection");
  flags.Value(
      {"--world", "NAME", "World to run in: real or sim (that of the record)."},
      ReadChoice<WorldChoice>(
          command.world,
          {{"real", WorldChoice::kReal}, {"sim", WorldChoice::kSimulated}}));
  AddRunsFlag(flags, command.runs_directory);
  ASSIGN_OR_RETURN(const FlagsOutcome outcome, flags.Parse(verb.arguments));
  if (outcome == FlagsOutcome::kHelpWanted)
    return Command(PrintTextCommand{flags.Help()});
  if (words.empty()) {
    return InvalidArgument("expected a file, a run, or RUN/CASE");
  }
  command.target = words.front();
  // Refuses "": it is probably an unset shell variable, and must not select a
  // default.
  if (command.target.empty()) {
    return InvalidArgument(
        "WHAT: expected a file, a run, or RUN/CASE, found \"\"");
  }
  return Command(std::move(command));
}

}  // namespace gauntlet
