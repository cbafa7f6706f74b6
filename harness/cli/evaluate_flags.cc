// The options of `gauntlet evaluate`.
#include "harness/cli/flags.h"
#include "harness/cli/verbs.h"

namespace gauntlet {
namespace {

constexpr uint64_t kMaxEpochs = 1'000'000;
constexpr uint64_t kMaxSteps = 1'000'000'000'000;

constexpr std::string_view kExamples =
    R"(Examples:
  gauntlet evaluate --ckpt ckpt --epochs 10            # beside the training run
  gauntlet evaluate --ckpt ckpt --once                 # what is there now
It only reads the store, and says of each checkpoint, on the validation rows,
what training's own evaluation says. It ends when told (143), after the epoch or
step that it is to wait for, or when the finished run has deleted its store.
gauntlet train does the same where TF_CONFIG's task is an evaluator.)";

}  // namespace

Result<Command> ParseEvaluate(const VerbArguments& verb) {
  EvaluateCommand told;
  std::optional<Duration> every;
  Flags flags({.command = "evaluate",
               .summary = "Evaluate the checkpoints of a run as they appear.",
               .examples = std::string(kExamples)},
              verb);
  flags.Value({"--ckpt", "DIR", "the checkpoint store"},
              ReadText(told.directory));
  flags.Value({"--data", "DIR", "where the job's files lie now"},
              ReadText(told.data.directory));
  flags.Value(
      {"--validation", "DIR", "where its validation files lie now, if apart"},
      ReadText(told.data.validation_directory));
  flags.Switch({"--once", "", "what is there now, then end"},
               [&told] { told.loop.looks = EvaluatorLoop::Looks::kOnce; });
  flags.Value({"--every", "TIME", "the pause between two looks (1s)"},
              ReadTime(every));
  flags.Value({"--epochs", "N", "end once so many epochs are evaluated"},
              ReadWhole(told.loop.until_epoch, uint64_t{1}, kMaxEpochs));
  flags.Value({"--steps", "N", "end once this step is evaluated"},
              ReadWhole(told.loop.until_step, uint64_t{1}, kMaxSteps));
  flags.Value({"--threads", "N", "threads for products (1)"},
              ReadWhole(told.threads, 1, 256));
  flags.Value(
      {"--tensorboard", "DIR", "curves for TensorBoard, in DIR/evaluation"},
      ReadText(told.summary_directory));
  flags.Switch({"--json", "", "each line as a JSON object"},
               [&told] { told.output = OutputFormat::kJson; });
  ASSIGN_OR_RETURN(const FlagsOutcome outcome, flags.Parse(verb.arguments));
  if (outcome == FlagsOutcome::kHelpWanted)
    return Command(PrintTextCommand{flags.Help()});
  if (told.directory.empty()) return InvalidArgument("--ckpt: missing");
  if (every && told.loop.looks == EvaluatorLoop::Looks::kOnce) {
    return InvalidArgument("--every cannot be combined with --once");
  }
  told.loop.every = every.value_or(told.loop.every);
  return Command(std::move(told));
}

}  // namespace gauntlet
