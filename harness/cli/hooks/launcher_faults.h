// The fault plan of `gauntlet train --plan`, in the launcher.
#ifndef GAUNTLET_HARNESS_CLI_HOOKS_LAUNCHER_FAULTS_H_
#define GAUNTLET_HARNESS_CLI_HOOKS_LAUNCHER_FAULTS_H_

#include <memory>

#include "engine/app/train_hooks.h"

namespace gauntlet {

// Reads the command's plan. Without --plan-state, creates a temporary directory
// that records which faults fired. Warns of planted bugs. An error starts with
// "--plan: ". REQUIRES: the command has a plan.
Result<std::unique_ptr<LauncherFaults>> PrepareLauncherFaults(
    Storage& storage, const TrainCommand& command, Console& console);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_HOOKS_LAUNCHER_FAULTS_H_
