// `gauntlet train` with worker processes on this machine.
#ifndef GAUNTLET_ENGINE_APP_TRAIN_LOCAL_TRAINING_H_
#define GAUNTLET_ENGINE_APP_TRAIN_LOCAL_TRAINING_H_

#include "engine/app/commands.h"
#include "engine/app/train_hooks.h"
#include "engine/cli/terminal/console.h"

namespace gauntlet {

// Calls RunTrain with workers that are processes of this program. Must be
// called from the main thread before any other thread starts. Returns the exit
// code.
int TrainOnThisMachine(const TrainCommand& command, const TrainHooks& hooks,
                       Console& console);

// Calls TrainOnThisMachine with the options of training and of the launcher
// from the command's options file.
int RunLaunch(const LaunchCommand& command, const TrainHooks& hooks,
              Console& console);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_APP_TRAIN_LOCAL_TRAINING_H_
