// The options of `gauntlet worker`, which only launchers call.
#include "engine/app/parsers.h"
#include "engine/cli/flags/flags.h"
#include "engine/job/job.h"

namespace gauntlet {

Result<AppCommand> ParseWorker(const VerbArguments& verb) {
  WorkerCommand command;
  Flags flags(
      {.command = "worker",
       .summary = "Run one worker of a cluster, with its place in TF_CONFIG. "
                  "For launchers: people use gauntlet train.",
       .examples = "Example:\n  gauntlet worker --options options.json"},
      verb);
  flags.Value({"--options", "FILE", "Options of the training run, as JSON."},
              ReadText(command.options_file));
  flags.Value({"--worker", "N", "Identity across restarts (the rank)."},
              ReadWhole(command.worker, 0, kMaxReplicas - 1));
  flags.Value({"--incarnation", "N", "Number of the incarnation, from 1 (1)."},
              ReadWhole(command.incarnation, 1, 1'000'000));
  flags.Value({"--events", "FILE", "Write events there."},
              ReadText(command.events_file));
  flags.Value({"--plan", "FILE", "Inject the faults of this plan."},
              ReadText(command.plan_file));
  flags.Value({"--plan-state", "DIR", "Record there which faults have fired."},
              ReadText(command.plan_state_directory));
  flags.Value(
      {"--launcher-fd", "N", "Open file descriptor that takes progress."},
      ReadWhole(command.launcher_fd, 0, 65535));
  flags.Value({"--launch", "NAME",
               "Name of the launch; later launches have later names."},
              ReadText(command.launch));
  flags.Value({"--claimed", "N", "Generation that this launch has claimed."},
              ReadWhole(command.claimed, uint64_t{0}, uint64_t{1} << 53));
  ASSIGN_OR_RETURN(const FlagsOutcome outcome, flags.Parse(verb.arguments));
  if (outcome == FlagsOutcome::kHelpWanted)
    return AppCommand(PrintTextCommand{flags.Help()});
  if (command.options_file.empty()) {
    return InvalidArgument("--options: missing");
  }
  if (command.plan_file.empty() != command.plan_state_directory.empty()) {
    return InvalidArgument("--plan, --plan-state: expected both or neither");
  }
  return AppCommand(std::move(command));
}

}  // namespace gauntlet
