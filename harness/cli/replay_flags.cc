// The options of `gauntlet replay`.
#include "harness/cli/flags.h"
#include "harness/cli/verbs.h"

namespace gauntlet {
namespace {

constexpr std::string_view kExamples =
    R"(Examples:
  gauntlet replay latest
  gauntlet replay 20250901T120000-77/torn-manifest --world real
  gauntlet replay finding-001
  gauntlet replay 20250901T120000-78
  gauntlet replay weak-save-17-3-0.2
`latest` is the last run of `gauntlet run`; an exploration's findings have their
own names, and its run is all of them.
In the simulated world a run comes back event by event, or the first event that
does not is shown. Where a state left the reference's, the step, operation,
replica and value are named. Exit code 0: reproduced; 3: it went another way, or
it was skipped.)";

}  // namespace

Result<Command> ParseReplay(const VerbArguments& verb) {
  ReplayCommand command;
  std::vector<std::string> words;
  Flags flags({.command = "replay",
               .summary = "Repeat a case, and say where it goes another way.",
               .examples = std::string(kExamples)},
              verb);
  flags.Positionals({"what", "WHAT",
                     "a scenario file, a record.jsonl, RUN or RUN/CASE, where "
                     "RUN is latest or the beginning of a run's name; or a "
                     "finding of the newest exploration that has it: its file, "
                     "the beginning of the file's name, a crash state's id"},
                    {.least = 1, .most = 1}, words);
  flags.Value({"--world", "NAME", "real or sim (the one that was recorded)"},
              ReadChoice<WorldChoice>(command.world,
                                      {{"real", WorldChoice::kReal},
                                       {"sim", WorldChoice::kSimulated}}));
  flags.Value({"--runs", "DIR", "where runs are kept (.gauntlet/runs)"},
              ReadText(command.runs_directory));
  ASSIGN_OR_RETURN(const FlagsOutcome outcome, flags.Parse(verb.arguments));
  if (outcome == FlagsOutcome::kHelpWanted)
    return Command(PrintTextCommand{flags.Help()});
  if (words.empty()) {
    return InvalidArgument("expected a file, a run, or RUN/CASE");
  }
  command.target = words.front();
  // A variable that is not set, say: not whatever there is.
  if (command.target.empty()) {
    return InvalidArgument(
        "WHAT: expected a file, a run, or RUN/CASE, found \"\"");
  }
  return Command(std::move(command));
}

}  // namespace gauntlet
