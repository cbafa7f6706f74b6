// The options of `gauntlet launch`, which only the harness calls.
#include "engine/app/parsers.h"
#include "engine/cli/flags/flags.h"

namespace gauntlet {

Result<AppCommand> ParseLaunch(const VerbArguments& verb) {
  LaunchCommand command;
  TrainCommand& train = command.train;
  train.progress = ProgressChoice::kOff;
  train.output = OutputFormat::kJson;
  Flags flags(
      {.command = "launch",
       .summary = "Train from a file of options and print the result as JSON. "
                  "For harnesses: people use gauntlet train.",
       .examples = "Example:\n  gauntlet launch --options "
                   "options.json --events events"},
      verb);
  flags.Value({"--options", "FILE", "Options of the run, as JSON."},
              ReadText(command.options_file));
  flags.Value({"--events", "DIR",
               "Write one event file for each incarnation of a worker."},
              ReadText(train.events_directory));
  flags.Value(
      {"--logs", "DIR", "Write one log for each incarnation of a worker."},
      ReadText(train.logs_directory));
  flags.Value({"--plan", "FILE", "Inject the faults of this plan."},
              ReadText(train.plan_file));
  flags.Value({"--plan-state", "DIR", "Record there which faults have fired."},
              ReadText(train.plan_state_directory));
  ASSIGN_OR_RETURN(const FlagsOutcome outcome, flags.Parse(verb.arguments));
  if (outcome == FlagsOutcome::kHelpWanted)
    return AppCommand(PrintTextCommand{flags.Help()});
  if (command.options_file.empty()) {
    return InvalidArgument(
        "expected the options of a run: gauntlet launch --options FILE");
  }
  return AppCommand(std::move(command));
}

}  // namespace gauntlet
