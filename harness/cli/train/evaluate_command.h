// `gauntlet evaluate`, and `gauntlet train` as a cluster's evaluator: the
// side-car that evaluates checkpoints beside a training run.
#ifndef GAUNTLET_HARNESS_CLI_TRAIN_EVALUATE_COMMAND_H_
#define GAUNTLET_HARNESS_CLI_TRAIN_EVALUATE_COMMAND_H_

#include <string>

#include "engine/train/loop/evaluator.h"
#include "engine/world/world.h"
#include "harness/cli/flags/commands.h"
#include "harness/cli/terminal/console.h"

namespace gauntlet {

// "epoch 2  step 12  val_loss 0.5312  val_accuracy 0.9062  step-000000012-g1".
std::string EvaluationToText(const Evaluation& evaluation);
// The same as one line of JSON; a loss that is no number is null.
std::string EvaluationToJson(const Evaluation& evaluation);

// Says a line of each checkpoint. Returns the exit code: 0, 2 for a job that
// cannot be evaluated, 7 where --once found nothing to load, 143 for a notice.
int RunEvaluate(const EvaluateCommand& command, World& world, Console& console);

// In a process of this machine.
int EvaluateLocally(const EvaluateCommand& command, Console& console);

// As the evaluator of a cluster whose workers this command trains, until its
// horizon. The checkpoints have to be of its job.
int RunSidecar(const TrainCommand& command, Console& console);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_TRAIN_EVALUATE_COMMAND_H_
