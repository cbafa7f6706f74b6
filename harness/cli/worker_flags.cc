// The options of `gauntlet worker`, which only launchers call.
#include "harness/cli/flags.h"
#include "harness/cli/verbs.h"

namespace gauntlet {

Result<Command> ParseWorker(const VerbArguments& verb) {
  WorkerCommand command;
  Flags flags({.command = "worker",
               .summary = "One worker of a cluster; its place is in TF_CONFIG.",
               .examples = ""},
              verb);
  flags.Value({"--options", "FILE", "what to train and how, as JSON"},
              ReadText(command.options_file));
  flags.Value({"--worker", "N", "identity across restarts (the rank)"},
              ReadWhole(command.worker, 0, 4095));
  flags.Value({"--life", "N", "1 for the first incarnation (1)"},
              ReadWhole(command.life, 1, 1'000'000));
  flags.Value({"--events", "FILE", "where to log events"},
              ReadText(command.events_file));
  flags.Value({"--plan", "FILE", "faults to inject"},
              ReadText(command.plan_file));
  flags.Value({"--plan-state", "DIR", "where the run notes which have fired"},
              ReadText(command.plan_state_directory));
  flags.Value({"--launcher-fd", "N", "open descriptor to write progress to"},
              ReadWhole(command.launcher_fd, 0, 65535));
  flags.Value(
      {"--launch", "NAME", "of the launch; later ones have later names"},
      ReadText(command.launch));
  flags.Value({"--claimed", "N", "a generation that this launch has claimed"},
              ReadWhole(command.claimed, uint64_t{0}, uint64_t{1} << 53));
  ASSIGN_OR_RETURN(const FlagsOutcome outcome, flags.Parse(verb.arguments));
  if (outcome == FlagsOutcome::kHelpWanted)
    return Command(PrintTextCommand{flags.Help()});
  if (command.options_file.empty()) {
    return InvalidArgument("--options: missing");
  }
  if (command.plan_file.empty() != command.plan_state_directory.empty()) {
    return InvalidArgument("--plan, --plan-state: expected both or neither");
  }
  return Command(std::move(command));
}

}  // namespace gauntlet
