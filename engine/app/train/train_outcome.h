// The outcome of training as text for people and as JSON for programs.
#ifndef GAUNTLET_ENGINE_APP_TRAIN_TRAIN_OUTCOME_H_
#define GAUNTLET_ENGINE_APP_TRAIN_TRAIN_OUTCOME_H_

#include <string>

#include "engine/app/commands.h"
#include "engine/cli/terminal/console.h"
#include "engine/train/launcher/launcher.h"

namespace gauntlet {

struct TrainOutcome {
  LaunchEnd end;
  double seconds = 0.0;
};

// Returns one line: {"status", "epochs", "steps", "digest", "loss", "accuracy",
// "val_accuracy", "restarts", "resumed_from", "seconds"}, with "reason" if
// there is one. Unknown and non-finite values are null. Without a result, the
// status is "failed".
std::string TrainOutcomeToJson(const TrainOutcome& outcome);

// Returns one line: "done     4 epochs, 256 steps, loss 0.4127, …". REQUIRES:
// outcome.end.result.
std::string TrainOutcomeToText(const TrainOutcome& outcome);

// If a notice or --stop-at-step stopped the run, returns "step 10 is saved in
// ckpt; the same command resumes there" or, without a checkpoint directory,
// that no checkpoint is saved. Otherwise returns "".
std::string ResumeText(const TrainOutcome& outcome,
                       const TrainOptions& options);

// Returns "ckpt is at step 741, beyond the 10 steps requested: nothing was
// trained" if the run resumed from such a checkpoint; else "".
std::string BeyondHorizonText(const TrainOutcome& outcome,
                              const TrainOptions& options);

// Returns the reason of the end, for a person. If training was refused because
// no checkpoint is valid, adds the ways to start from scratch.
std::string ReasonWithAdvice(const LaunchEnd& end);

// Prints the outcome, if there is one, in the given format: the result on
// console.out, then ResumeText and BeyondHorizonText on console.err.
void PrintTrainOutcome(const TrainOutcome& outcome, OutputFormat format,
                       const TrainOptions& options, Console& console);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_APP_TRAIN_TRAIN_OUTCOME_H_
