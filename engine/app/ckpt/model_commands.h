// `gauntlet ckpt export` and `predict`: use the model of a checkpoint.
#ifndef GAUNTLET_ENGINE_APP_CKPT_MODEL_COMMANDS_H_
#define GAUNTLET_ENGINE_APP_CKPT_MODEL_COMMANDS_H_

#include "engine/app/commands.h"
#include "engine/cli/terminal/console.h"
#include "engine/world/world.h"

namespace gauntlet {

// Each function returns the exit code: 0, or 2 if something cannot be read or
// written.
int RunCheckpointExport(const CheckpointExportCommand& command, World& world,
                        Console& console);
// Prints the predicted class of each validation sample, one per line; or one
// JSON object with the classes and how many are correct.
int RunCheckpointPredict(const CheckpointPredictCommand& command, World& world,
                         Console& console);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_APP_CKPT_MODEL_COMMANDS_H_
