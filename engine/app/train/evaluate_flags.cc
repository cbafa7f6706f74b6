// The options of `gauntlet evaluate`.
#include "engine/app/parsers.h"
#include "engine/app/train/job_flags.h"
#include "engine/cli/flags/flags.h"
#include "engine/math/kernels.h"

namespace gauntlet {
namespace {

constexpr uint64_t kMaxEpochs = 1'000'000;

constexpr std::string_view kEvaluateExamples =
    R"(Examples:
  gauntlet evaluate --ckpt ckpt --epochs 10   # in parallel to the training run
  gauntlet evaluate --ckpt ckpt --once        # the checkpoints that exist now

evaluate only reads the checkpoint directory. For each checkpoint it prints loss
and accuracy on the validation samples, equal to those of train itself. It ends
at a signal (exit code 143), after --epochs or --steps, or once the finished run
has deleted its checkpoints. gauntlet train does the same if the task in
TF_CONFIG is an evaluator.)";

}  // namespace

Result<AppCommand> ParseEvaluate(const VerbArguments& verb) {
  EvaluateCommand command;
  std::optional<Duration> every;
  Flags flags({.command = "evaluate",
               .summary = "Evaluate the checkpoints of a run as they appear.",
               .examples = std::string(kEvaluateExamples)},
              verb);
  flags.Section("Selection");
  flags.Value({"--ckpt", "DIR", "Checkpoint directory to read."},
              ReadText(command.directory));
  flags.Value(
      {"--data", "DIR", "Folder of the data files, if they were moved."},
      ReadText(command.data.directory));
  flags.Value({"--validation", "DIR",
               "Folder of the validation files, if they were moved."},
              ReadText(command.data.validation_directory));
  flags.Switch(
      {"--once", "", "Evaluate the checkpoints that exist, and exit."},
      [&command] { command.loop.scans = EvaluatorLoop::Scans::kOnce; });
  flags.Value(
      {"--every", "TIME", "Time between two polls of the directory (1s)."},
      ReadTime(every));
  flags.Value({"--epochs", "N", "Exit once N completed epochs are evaluated."},
              ReadWhole(command.loop.until_epoch, uint64_t{1}, kMaxEpochs));
  flags.Value({"--steps", "N", "Exit once step N is evaluated."},
              ReadWhole(command.loop.until_step, uint64_t{1}, kMaxSteps));
  flags.Section("Workers");
  flags.Value({"--threads", "N", "Compute threads (1)."},
              ReadWhole(command.threads, 1, kMaxThreads));
  flags.Section("Output");
  flags.Value({"--tensorboard", "DIR",
               "Write curves for TensorBoard to DIR/evaluation."},
              ReadText(command.summary_directory));
  flags.Switch({"--json", "", "Print each line as a JSON object."},
               [&command] { command.output = OutputFormat::kJson; });
  ASSIGN_OR_RETURN(const FlagsOutcome outcome, flags.Parse(verb.arguments));
  if (outcome == FlagsOutcome::kHelpWanted)
    return AppCommand(PrintTextCommand{flags.Help()});
  if (command.directory.empty()) {
    return InvalidArgument(
        "expected the checkpoint directory of a run: gauntlet evaluate --ckpt "
        "DIR");
  }
  if (every && command.loop.scans == EvaluatorLoop::Scans::kOnce) {
    return InvalidArgument("--every cannot be combined with --once");
  }
  command.loop.every = every.value_or(command.loop.every);
  return AppCommand(std::move(command));
}

}  // namespace gauntlet
