// `gauntlet evaluate`, and `gauntlet train` as a cluster's evaluator: the
// side-car that evaluates checkpoints while a training run continues.
#ifndef GAUNTLET_ENGINE_APP_TRAIN_EVALUATE_COMMAND_H_
#define GAUNTLET_ENGINE_APP_TRAIN_EVALUATE_COMMAND_H_

#include <string>

#include "engine/app/commands.h"
#include "engine/cli/terminal/console.h"
#include "engine/train/loop/evaluator.h"
#include "engine/world/world.h"

namespace gauntlet {

// Returns "epoch 2  step 12  val_loss 0.5312  val_accuracy 0.9062
// step-000000012-g1".
std::string EvaluationToText(const Evaluation& evaluation);
// Returns the evaluation as one line of JSON; a loss that is not finite is
// null.
std::string EvaluationToJson(const Evaluation& evaluation);

// Prints a line for each checkpoint. Returns the exit code: 0, 2 if the job
// cannot be evaluated, 7 if --once found no loadable checkpoint, 143 after a
// notice.
int RunEvaluate(const EvaluateCommand& command, World& world, Console& console);

// Calls RunEvaluate in the real world of this process, with signal handlers
// installed.
int EvaluateLocally(const EvaluateCommand& command, Console& console);

// Runs this process as the evaluator of the cluster that trains `command`,
// until it has evaluated the last epoch or step that `command` requests.
// REQUIRES: the checkpoints are of the command's job.
int RunSidecar(const TrainCommand& command, Console& console);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_APP_TRAIN_EVALUATE_COMMAND_H_
