// `gauntlet train`: launches the workers and reports the outcome.
#ifndef GAUNTLET_ENGINE_APP_TRAIN_TRAIN_COMMAND_H_
#define GAUNTLET_ENGINE_APP_TRAIN_TRAIN_COMMAND_H_

#include <string>

#include "engine/app/commands.h"
#include "engine/cli/terminal/console.h"
#include "engine/status.h"
#include "engine/train/launcher/launcher.h"
#include "engine/train/worker_processes.h"
#include "engine/world/storage.h"
#include "engine/world/world.h"

namespace gauntlet {

// Returns "tiny: 4 replicas of 16 samples on 2 workers, seed 1; saves each
// epoch to ckpt".
std::string TrainHeader(const TrainCommand& command);

// Checks all outputs of the command (CheckOutputPlaces, output_places.h), and
// that no output is in a place that another output needs for itself
// (output_overlap.h). kInvalidArgument names the flags.
Status CheckPlaces(Storage& storage, const TrainCommand& command);

// Trains command.options. REQUIRES: `processes` starts workers of the same
// command. Returns the exit code.
int RunTrain(const TrainCommand& command, World& world,
             WorkerProcesses& processes, Console& console);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_APP_TRAIN_TRAIN_COMMAND_H_
