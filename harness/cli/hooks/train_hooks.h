// Fault plans and traces of `gauntlet train`, as the harness has them.
#ifndef GAUNTLET_HARNESS_CLI_HOOKS_TRAIN_HOOKS_H_
#define GAUNTLET_HARNESS_CLI_HOOKS_TRAIN_HOOKS_H_

#include "engine/app/train_hooks.h"

namespace gauntlet {

TrainHooks HarnessTrainHooks();

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_HOOKS_TRAIN_HOOKS_H_
