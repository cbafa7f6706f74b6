// `gauntlet ckpt export` and `predict`: what a checkpoint's model is good for.
#ifndef GAUNTLET_HARNESS_CLI_CKPT_MODEL_COMMANDS_H_
#define GAUNTLET_HARNESS_CLI_CKPT_MODEL_COMMANDS_H_

#include "engine/world/world.h"
#include "harness/cli/flags/commands.h"
#include "harness/cli/terminal/console.h"

namespace gauntlet {

// Each returns the exit code: 0, or 2 where something cannot be read or
// written.
int RunCheckpointExport(const CheckpointExportCommand& command, World& world,
                        Console& console);
// A class a line, of each validation row; or one JSON object with how many of
// them are right.
int RunCheckpointPredict(const CheckpointPredictCommand& command, World& world,
                         Console& console);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_CKPT_MODEL_COMMANDS_H_
