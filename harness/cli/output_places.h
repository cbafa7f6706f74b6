// Directories that a training run writes to, checked before it starts.
#ifndef GAUNTLET_HARNESS_CLI_OUTPUT_PLACES_H_
#define GAUNTLET_HARNESS_CLI_OUTPUT_PLACES_H_

#include "engine/status.h"
#include "engine/world/storage.h"
#include "harness/cli/commands.h"

namespace gauntlet {

// It is missing, not asked for (""), or a directory that can be written to;
// else kInvalidArgument says what stands there.
Status CheckOutputPlace(Storage& storage, const std::string& directory);

// All of the command's, likewise, with the flag in front: "--ckpt: run:
// opendir: it is a link to /mnt/run, which does not exist". --export is the
// workers' to check (PrepareExport).
Status CheckOutputPlaces(Storage& storage, const TrainCommand& command);

// Checks all, and makes --events, --logs and --ckpt.
Status MakeOutputPlaces(Storage& storage, const TrainCommand& command);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_OUTPUT_PLACES_H_
