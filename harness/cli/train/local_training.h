// `gauntlet train` in real processes of this machine.
#ifndef GAUNTLET_HARNESS_CLI_TRAIN_LOCAL_TRAINING_H_
#define GAUNTLET_HARNESS_CLI_TRAIN_LOCAL_TRAINING_H_

#include "harness/cli/flags/commands.h"
#include "harness/cli/terminal/console.h"

namespace gauntlet {

// RunTrain with workers that are processes of this program. To be called from
// the main thread, before there are others. Returns the exit code.
int TrainOnThisMachine(const TrainCommand& command, Console& console);

// The same for the options in a file.
int RunLaunch(const LaunchCommand& command, Console& console);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_TRAIN_LOCAL_TRAINING_H_
