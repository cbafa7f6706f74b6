// The options of `gauntlet launch`, which only harnesses call.
#include "harness/cli/flags.h"
#include "harness/cli/membership_flags.h"
#include "harness/cli/verbs.h"

namespace gauntlet {

Result<Command> ParseLaunch(const VerbArguments& verb) {
  LaunchCommand command;
  TrainCommand& train = command.train;
  train.progress = ProgressChoice::kOff;
  train.output = OutputFormat::kJson;
  Flags flags({.command = "launch",
               .summary = "Train what a file of options says; prints JSON.",
               .examples = ""},
              verb);
  flags.Value({"--options", "FILE", "what to train and how, as JSON"},
              ReadText(command.options_file));
  flags.Value({"--workers", "N", "processes that share the replicas (1)"},
              ReadWhole(train.launcher.workers, 1, 1024));
  AddMembershipFlags(flags, train.launcher);
  flags.Value({"--workers-by-life", "N,…", "how many each attempt has (all)"},
              ReadWorkersByLife(train.launcher.workers_by_life));
  flags.Value({"--max-restarts", "N",
               "of the whole run (100); 10 in a row without a new step "
               "end it too, each after a longer pause"},
              ReadWhole(train.launcher.max_restarts, 0, 1'000'000));
  flags.Value({"--backoff-ms", "N", "pause before the first restart (100)"},
              ReadWhole(command.backoff_ms, 0, 3'600'000));
  flags.Value(
      {"--first-life", "N", "number of the workers' first incarnations (1)"},
      ReadWhole(train.launcher.first_life, 1, 1'000'000));
  flags.Value(
      {"--events", "DIR", "a file of events for each incarnation of a worker"},
      ReadText(train.events_directory));
  flags.Value({"--logs", "DIR", "a log for each incarnation of a worker"},
              ReadText(train.logs_directory));
  flags.Value({"--plan", "FILE", "faults to inject"},
              ReadText(train.plan_file));
  flags.Value({"--plan-state", "DIR", "where all starts note which have fired"},
              ReadText(train.plan_state_directory));
  ASSIGN_OR_RETURN(const FlagsOutcome outcome, flags.Parse(verb.arguments));
  if (outcome == FlagsOutcome::kHelpWanted)
    return Command(PrintTextCommand{flags.Help()});
  if (command.options_file.empty()) {
    return InvalidArgument("--options: missing");
  }
  RETURN_IF_ERROR(CheckMembership(train.launcher));
  return Command(std::move(command));
}

}  // namespace gauntlet
