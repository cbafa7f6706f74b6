// `gauntlet train`: launches the workers and says what comes of them.
#ifndef GAUNTLET_HARNESS_CLI_TRAIN_TRAIN_COMMAND_H_
#define GAUNTLET_HARNESS_CLI_TRAIN_TRAIN_COMMAND_H_

#include <string>

#include "engine/status.h"
#include "engine/train/launcher/launcher.h"
#include "engine/train/worker_processes.h"
#include "engine/world/storage.h"
#include "engine/world/world.h"
#include "harness/cli/flags/commands.h"
#include "harness/cli/terminal/console.h"

namespace gauntlet {

// "tiny: 4 replicas of 16 rows on 2 workers, seed 1; saves each epoch to ckpt".
std::string TrainHeader(const TrainCommand& command);

// Checks all outputs of the command: CheckOutputPlaces (output_places.h), and
// that no two that have to differ are one place (output_overlap.h).
// kInvalidArgument names the flags.
Status CheckPlaces(Storage& storage, const TrainCommand& command);

// The worker processes are those of the command: they train command.options.
// Returns the exit code.
int RunTrain(const TrainCommand& command, World& world,
             WorkerProcesses& processes, Console& console);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_TRAIN_TRAIN_COMMAND_H_
