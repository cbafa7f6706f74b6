// The options of `gauntlet launch`, which only the harness calls.
#include "engine/app/cluster/membership_flags.h"
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
                   "options.json --workers 2 --events events"},
      verb);
  flags.Value({"--options", "FILE", "Options of the training run, as JSON."},
              ReadText(command.options_file));
  flags.Value(
      {"--workers", "N", "Worker processes, which share the replicas (1)."},
      ReadWhole(train.launcher.workers, 1, 1024));
  AddMembershipFlags(flags, train.launcher);
  flags.Value({"--workers-by-life", "N,…", "Workers of each attempt (all)."},
              ReadWorkersByLife(train.launcher.workers_by_life));
  flags.Value({"--max-restarts", "N",
               "Limit of restarts in the whole run (100). 10 restarts in a row "
               "without a new step also end it."},
              ReadWhole(train.launcher.max_restarts, 0, 1'000'000));
  flags.Value({"--backoff-ms", "N", "Pause before the first restart (100)."},
              ReadWhole(command.backoff_ms, 0, 3'600'000));
  flags.Value({"--first-life", "N",
               "Number of the first incarnation of each worker (1)."},
              ReadWhole(train.launcher.first_life, 1, 1'000'000));
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
    return InvalidArgument("--options: missing");
  }
  RETURN_IF_ERROR(CheckMembership(train.launcher));
  return AppCommand(std::move(command));
}

}  // namespace gauntlet
