// The harness's fault plans and traces for `gauntlet train`.
#ifndef GAUNTLET_HARNESS_CLI_HOOKS_TRAIN_HOOKS_H_
#define GAUNTLET_HARNESS_CLI_HOOKS_TRAIN_HOOKS_H_

#include "engine/app/train_hooks.h"

namespace gauntlet {

// Returns hooks that inject faults by chaos/inject and write Chrome traces.
TrainHooks HarnessTrainHooks();

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_HOOKS_TRAIN_HOOKS_H_
